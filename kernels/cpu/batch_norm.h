#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include <kernels/epilogue.h>

namespace dnn::cpu {

// Whether x - mean is a float for all x of so many rows: none differs from the mean by more than sqrt(rows) / inv_std.
// Where it may not be, x is scaled before the mean is taken off.
inline bool differences_fit(int64_t rows, double inv_std) {
  return std::sqrt(static_cast<double>(rows)) < std::abs(inv_std) * std::numeric_limits<float>::max();
}

// Whether the pass over memory that sums up dz can store it too. With other activations, rare before a residual, it
// takes a pass of its own.
constexpr bool stores_dz(UnaryOp op) { return op == UnaryOp::none || op == UnaryOp::relu; }

// What the gradients of a batch norm are computed from; y may be null.
struct NormOperands {
  const float *x, *y, *dy;
  const float *mean, *scale, *bias;  // one value a column

  NormOperands from(int64_t at, int64_t col) const {
    return {x + at, y ? y + at : nullptr, dy + at, mean + col, scale + col, bias + col};
  }
};

}  // namespace dnn::cpu
