#pragma once
#include <cstdint>

namespace dnn {

// What the elements of a tensor may be. float32 computes everywhere, float64 on the device `reference` only. The others
// are for storage, casts and files: float16 and bfloat16; int64, int32 and uint8 for labels, indices and pictures; a
// boolean is a byte that is 0 or 1. Each operation says where it takes them.
enum class DType : uint8_t { float32, float64, int32, uint8, float16, bfloat16, int64, boolean };

constexpr int size_of(DType type) {
  switch (type) {
    case DType::float64:
    case DType::int64:
      return 8;
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::uint8:
    case DType::boolean:
      return 1;
    case DType::float32:
    case DType::int32:
      break;
  }
  return 4;
}

constexpr const char* name_of(DType type) {
  switch (type) {
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::int32:
      return "int32";
    case DType::float16:
      return "float16";
    case DType::bfloat16:
      return "bfloat16";
    case DType::int64:
      return "int64";
    case DType::boolean:
      return "bool";
    case DType::uint8:
      break;
  }
  return "uint8";
}

}  // namespace dnn
