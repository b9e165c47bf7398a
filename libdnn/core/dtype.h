#pragma once
#include <cstdint>
#include <type_traits>

namespace dnn {

// float64 computes on the device `reference` only; int32 holds labels, uint8 pictures and pool indices.
enum class DType : uint8_t { float32, float64, int32, uint8 };

constexpr int size_of(DType type) {
  switch (type) {
    case DType::float64:
      return 8;
    case DType::uint8:
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
    case DType::uint8:
      break;
  }
  return "uint8";
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::float64;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return DType::int32;
  } else {
    static_assert(std::is_same_v<T, uint8_t>, "a tensor holds float, double, int32_t or uint8_t");
    return DType::uint8;
  }
}

}  // namespace dnn
