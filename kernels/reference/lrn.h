#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <kernels/backend.h>
#include <kernels/reference/rows.h>

namespace dnn::reference {

// The channels [first, last] that channel c is normalised by; an even size has one more before c than after it.
struct LrnWindow {
  int first, last;
  LrnWindow(const LrnShape& shape, int c)
      : first(std::max(c - shape.size / 2, 0)),
        last(static_cast<int>(std::min<int64_t>(int64_t{c} + (shape.size - 1) / 2, shape.cols - 1))) {}
};

template <class T>
double lrn_scale(const LrnShape& shape, const T* x, int c) {
  const LrnWindow window(shape, c);
  double sum = 0;
  for (int j = window.first; j <= window.last; ++j) sum += double{x[j]} * x[j];
  return shape.k + shape.alpha / shape.size * sum;
}

// Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional neural networks", 2012, section
// 3.3, but alpha is divided by the size: y = x * s ^ -beta, s = k + alpha / size * sum of x^2 over the window.
template <class T>
void lrn_forward(Context& context, const LrnShape& shape, const T* x, T* y) {
  for_each_row(context, shape.rows, int64_t{shape.cols} * shape.size, [&](int64_t row, int) {
    const T* in = x + row * shape.cols;
    for (int c = 0; c < shape.cols; ++c) {
      y[row * shape.cols + c] = static_cast<T>(in[c] * std::pow(lrn_scale(shape, in, c), -shape.beta));
    }
  });
}

// dx = dy * s ^ -beta - 2 * alpha * beta / size * x * sum of dy * y / s over the channels whose windows hold this one;
// y is computed again from x.
template <class T>
void lrn_backward(Context& context, const LrnShape& shape, const T* x, const T* dy, T* dx) {
  constexpr int64_t kMostChunks = 64;
  Workspace workspace(context);
  double* all = workspace.take<double>(2 * int64_t{threads_for(context, kMostChunks)} * shape.cols);
  for_each_row(context, shape.rows, int64_t{shape.cols} * shape.size, [&](int64_t row, int thread) {
    double* scale = all + 2 * int64_t{thread} * shape.cols;
    double* sum = scale + shape.cols;
    const int64_t at = row * shape.cols;
    std::fill(sum, sum + shape.cols, 0.0);
    for (int c = 0; c < shape.cols; ++c) {
      scale[c] = lrn_scale(shape, x + at, c);
      const double share = double{dy[at + c]} * x[at + c] * std::pow(scale[c], -shape.beta) / scale[c];
      const LrnWindow window(shape, c);
      for (int j = window.first; j <= window.last; ++j) sum[j] += share;
    }
    const double factor = 2 * shape.alpha * shape.beta / shape.size;
    for (int c = 0; c < shape.cols; ++c) {
      dx[at + c] = static_cast<T>(dy[at + c] * std::pow(scale[c], -shape.beta) - factor * x[at + c] * sum[c]);
    }
  });
}

}  // namespace dnn::reference
