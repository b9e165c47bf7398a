#pragma once
#include "rows.h"

// Gradients in double against central differences: |a - n| <= 1e-6 max(1, |a|, |n|), h = 1e-5.
namespace dnn::test {

// d (sum of dy * f(x)) / dx, one element of x after the other. f(const double* x, double* y) fills all of y.
template <class F>
Buffer<double> central_differences(const Buffer<double>& x, const Buffer<double>& dy, F&& f) {
  constexpr double kStep = 1e-5;
  Buffer<double> moved = x, y(dy.size()), gradient(x.size());
  const auto value = [&] {
    f(moved.get(), y.get());
    double sum = 0;
    for (int64_t i = 0; i < dy.size(); ++i) sum += dy[i] * y[i];
    return sum;
  };
  for (int64_t i = 0; i < x.size(); ++i) {
    moved[i] = x[i] + kStep;
    const double above = value();
    moved[i] = x[i] - kStep;
    const double below = value();
    moved[i] = x[i];
    gradient[i] = (above - below) / (2 * kStep);
  }
  return gradient;
}

inline void check_gradient(const Buffer<double>& gradient, const Buffer<double>& numeric) {
  gradient.check_guards();
  REQUIRE(gradient.size() == numeric.size());
  double largest = 0;
  for (int64_t i = 0; i < gradient.size(); ++i) {
    const double a = gradient[i], n = numeric[i];
    INFO("element " << i << ": " << a << ", by differences " << n);
    REQUIRE(std::abs(a - n) <= 1e-6 * std::max({1.0, std::abs(a), std::abs(n)}));
    largest = std::max(largest, std::abs(a));
  }
  REQUIRE(largest > 1e-3);
}

}  // namespace dnn::test
