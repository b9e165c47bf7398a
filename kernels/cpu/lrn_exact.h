#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <kernels/shapes.h>

namespace dnn::cpu {

// The normalization of rows whose squares a float can't hold: in double, channel by channel.
class LrnExact {
 public:
  explicit LrnExact(const LrnShape& shape)
      : before_(shape.size / 2),
        after_((shape.size - 1) / 2),
        cols_(shape.cols),
        alpha_(shape.alpha / shape.size),
        beta_(shape.beta),
        k_(shape.k) {}

  void forward(int64_t rows, const float* x, float* y) const {
    for (; rows > 0; --rows, x += cols_, y += cols_) {
      for (int64_t c = 0; c < cols_; ++c) y[c] = static_cast<float>(x[c] * std::pow(scale(x, c), -beta_));
    }
  }

  void backward(int64_t rows, const float* x, const float* dy, float* dx) const {
    for (; rows > 0; --rows, x += cols_, dy += cols_, dx += cols_) {
      for (int64_t c = 0; c < cols_; ++c) {
        // The channels in whose windows this one lies.
        double shared = 0;
        for (int64_t j = std::max<int64_t>(c - after_, 0); j < std::min(c + before_ + 1, cols_); ++j) {
          shared += double{dy[j]} * x[j] * std::pow(scale(x, j), -beta_ - 1);
        }
        dx[c] = static_cast<float>(dy[c] * std::pow(scale(x, c), -beta_) - 2 * alpha_ * beta_ * x[c] * shared);
      }
    }
  }

 private:
  double scale(const float* x, int64_t c) const {
    double squares = 0;
    for (int64_t j = std::max<int64_t>(c - before_, 0); j < std::min(c + after_ + 1, cols_); ++j) {
      squares += double{x[j]} * x[j];
    }
    return k_ + alpha_ * squares;
  }

  int64_t before_, after_, cols_;
  double alpha_, beta_, k_;
};

}  // namespace dnn::cpu
