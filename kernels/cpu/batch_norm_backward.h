#pragma once
#include <cstdint>

namespace dnn::cpu {

// What the gradients of a batch norm are computed from; y may be null.
struct NormOperands {
  const float *x, *y, *dy;
  const float *mean, *scale, *bias;  // one value a column

  NormOperands from(int64_t at, int64_t col) const {
    return {x + at, y ? y + at : nullptr, dy + at, mean + col, scale + col, bias + col};
  }
};

}  // namespace dnn::cpu
