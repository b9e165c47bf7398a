#pragma once
#include <cstdint>
#include <type_traits>

#include <kernels/dtype.h>
#include <kernels/half.h>

namespace dnn {

// The dtype of elements of a C++ type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::float64;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return DType::int32;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return DType::float16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::bfloat16;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return DType::int64;
  } else if constexpr (std::is_same_v<T, bool>) {
    return DType::boolean;
  } else {
    static_assert(std::is_same_v<T, uint8_t>,
                  "a tensor holds float, double, Float16, BFloat16, int64_t, int32_t, uint8_t or bool");
    return DType::uint8;
  }
}

}  // namespace dnn
