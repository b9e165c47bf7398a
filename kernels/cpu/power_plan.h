#pragma once
#include <cmath>

namespace dnn::cpu {

// How to compute b ^ power. Small multiples of a quarter are products of b and its square roots; the rest goes by
// logarithms.
struct PowerPlan {
  double power;
  bool by_roots;         // power = +-(whole + quarters / 4)
  bool inverse = false;  // the sign is minus
  int whole = 0, quarters = 0;

  explicit PowerPlan(double p) : power(p) {
    constexpr double kMostByRoots = 16;
    by_roots = std::abs(p) <= kMostByRoots && std::floor(4 * p) == 4 * p;
    if (!by_roots) return;
    inverse = p < 0;
    const int all = static_cast<int>(4 * std::abs(p));
    whole = all / 4, quarters = all % 4;
  }
};

}  // namespace dnn::cpu
