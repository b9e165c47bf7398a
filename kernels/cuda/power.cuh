#pragma once
#include <kernels/cpu/power_plan.h>

#include <cmath>
#include <limits>

#include <emulation/cuda.h>

namespace dnn::cuda {

// A power, and how to raise to it: see PowerPlan.
struct Power {
  float power = 0;
  int whole = 0, quarters = 0;
  bool by_roots = true, inverse = false;

  Power() = default;
  explicit Power(double p) : power(static_cast<float>(p)) {
    const cpu::PowerPlan plan(p);
    whole = plan.whole, quarters = plan.quarters;
    by_roots = plan.by_roots, inverse = plan.inverse;
  }
};

// b ^ power, as std::pow for all b.
__device__ inline float raise(float b, const Power& power) {
  if (!power.by_roots) return powf(b, power.power);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float result = 1;
  if (power.quarters > 0) {
    b = (b == -kInfinity ? kInfinity : b) + 0.0f;  // roots take -infinity for infinity and -0 for 0
    const float root = sqrtf(b);
    if (power.quarters >= 2) result = root;
    if (power.quarters != 2) result *= sqrtf(root);
  }
  float square = b;
  for (int bits = power.whole; bits > 0; bits >>= 1, square *= square) {
    if (bits & 1) result *= square;
  }
  return power.inverse ? 1 / result : result;
}

}  // namespace dnn::cuda
