#pragma once
#include <cstdint>

#include <emulation/cuda.h>

namespace dnn::cuda {

// Division by a number that is known at the launch: a multiplication and a shift, as a device has no instruction for
// it. After Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994.
class Divider {
 public:
  struct Parts {
    uint32_t quotient, remainder;
  };

  Divider() = default;
  // From 1 to 2^31.
  explicit Divider(int64_t divisor) : divisor_(static_cast<uint32_t>(divisor)) {
    while ((int64_t{1} << shift_) < divisor) ++shift_;
    multiplier_ = static_cast<uint32_t>(((((int64_t{1} << shift_) - divisor) << 32) / divisor) + 1);
  }

  // Of n below 2^31.
  __host__ __device__ Parts divide(uint32_t n) const {
    const auto high = static_cast<uint32_t>((uint64_t{n} * multiplier_) >> 32);
    const uint32_t quotient = (high + n) >> shift_;
    return {quotient, n - quotient * divisor_};
  }

 private:
  uint32_t divisor_ = 1, multiplier_ = 1, shift_ = 0;
};

}  // namespace dnn::cuda
