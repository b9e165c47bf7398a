#pragma once
#include <cstdint>

#include <kernels/half.h>

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

// f(T()) with the C++ type of the dtype.
template <class F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float64:
      return f(double());
    case DType::int32:
      return f(int32_t());
    case DType::uint8:
      return f(uint8_t());
    case DType::float16:
      return f(Float16());
    case DType::bfloat16:
      return f(BFloat16());
    case DType::int64:
      return f(int64_t());
    case DType::boolean:
      return f(bool());
    case DType::float32:
      break;
  }
  return f(float());
}

constexpr bool is_floating_point(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 || dtype == DType::bfloat16;
}

}  // namespace dnn
