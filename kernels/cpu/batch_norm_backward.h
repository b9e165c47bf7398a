#pragma once
#include <cstdint>

#include <kernels/epilogue.h>

namespace dnn::cpu {

// Whether the pass over memory that sums up dz can store it too. With other activations, rare before a residual, it
// takes a pass of its own.
constexpr bool stores_dz(Activation a) { return a == Activation::none || a == Activation::relu; }

// What the gradients of a batch norm are computed from; y may be null.
struct NormOperands {
  const float *x, *y, *dy;
  const float *mean, *scale, *bias;  // one value a column

  NormOperands from(int64_t at, int64_t col) const {
    return {x + at, y ? y + at : nullptr, dy + at, mean + col, scale + col, bias + col};
  }
};

}  // namespace dnn::cpu
