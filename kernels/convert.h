#pragma once
#include <limits>
#include <type_traits>

#include <kernels/half.h>

namespace dnn {

// What a cast makes of an element. A float becomes an integer by cutting off its fraction; what the integer can't hold
// becomes the nearest that it can, and a NaN 0. Integers wrap around. To bool: whether it differs from 0. Halves
// convert by way of float.
template <class To, class From>
To convert_element(From x) {
  using Limits = std::numeric_limits<To>;
  constexpr bool kFromHalf = std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>;
  constexpr bool kToHalf = std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kFromHalf) {
    return convert_element<To>(static_cast<float>(x));
  } else if constexpr (kToHalf) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From kLeast = static_cast<From>(Limits::min());
    constexpr From kBeyond = static_cast<From>(Limits::max() / 2 + 1) * 2;
    if (x != x) return 0;
    if (x >= kBeyond) return Limits::max();
    return x <= kLeast ? Limits::min() : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace dnn
