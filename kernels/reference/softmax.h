#pragma once
#include <algorithm>
#include <cmath>

#include <kernels/backend.h>

// Row by row, with the largest value m of the row taken off before exp() so that nothing overflows:
//   softmax(x)[j] = exp(x[j] - m) / sum over i of exp(x[i] - m), log_softmax its logarithm.
namespace dnn::reference {

// log of the sum of exp(x[j]) is largest + rest, kept apart: beside a large value the other would be lost.
struct LogSumExp {
  double largest, rest;
};

template <class T>
LogSumExp log_sum_exp(const T* x, int cols) {
  const double largest = *std::max_element(x, x + cols);
  double sum = 0;
  for (int j = 0; j < cols; ++j) sum += std::exp(x[j] - largest);
  return {largest, std::log(sum)};
}

template <class T>
void softmax_forward(Context&, const RowsShape& shape, const T* x, T* y) {
  for (int64_t row = 0; row < shape.rows; ++row, x += shape.cols, y += shape.cols) {
    const double largest = *std::max_element(x, x + shape.cols);
    double sum = 0;
    for (int j = 0; j < shape.cols; ++j) sum += std::exp(x[j] - largest);
    for (int j = 0; j < shape.cols; ++j) y[j] = static_cast<T>(std::exp(x[j] - largest) / sum);
  }
}

// dx = y * (dy - sum of y * dy)
template <class T>
void softmax_backward(Context&, const RowsShape& shape, const T* y, const T* dy, T* dx) {
  for (int64_t row = 0; row < shape.rows; ++row, y += shape.cols, dy += shape.cols, dx += shape.cols) {
    double sum = 0;
    for (int j = 0; j < shape.cols; ++j) sum += static_cast<double>(y[j]) * dy[j];
    for (int j = 0; j < shape.cols; ++j) dx[j] = static_cast<T>(y[j] * (dy[j] - sum));
  }
}

template <class T>
void log_softmax_forward(Context&, const RowsShape& shape, const T* x, T* y) {
  for (int64_t row = 0; row < shape.rows; ++row, x += shape.cols, y += shape.cols) {
    const auto [largest, rest] = log_sum_exp(x, shape.cols);
    for (int j = 0; j < shape.cols; ++j) y[j] = static_cast<T>(x[j] - largest - rest);
  }
}

// dx = dy - exp(y) * sum of dy
template <class T>
void log_softmax_backward(Context&, const RowsShape& shape, const T* y, const T* dy, T* dx) {
  for (int64_t row = 0; row < shape.rows; ++row, y += shape.cols, dy += shape.cols, dx += shape.cols) {
    double sum = 0;
    for (int j = 0; j < shape.cols; ++j) sum += dy[j];
    for (int j = 0; j < shape.cols; ++j) dx[j] = static_cast<T>(dy[j] - std::exp(static_cast<double>(y[j])) * sum);
  }
}

// By what the sum of the rows' losses is multiplied: 1 / W for the mean, W the sum of the weights of the labels that
// are not ignored, 0 where there is none; 1 for the sum. *bad_row as the catalogue has it.
template <class T>
double loss_scale(const RowsShape& shape, const CrossEntropyParams& params, const int32_t* labels,
                  const T* class_weights_or_null, int64_t* bad_row) {
  *bad_row = -1;
  double total = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    if (labels[row] == params.ignore_label) continue;
    if (labels[row] < 0 || labels[row] >= shape.cols) {
      *bad_row = row;
      return 0;
    }
    total += class_weights_or_null ? class_weights_or_null[labels[row]] : 1;
  }
  if (!params.mean) return 1;
  return total != 0 ? 1 / total : 0;
}

// With target weights q[j] (label smoothing: Szegedy et al., arXiv 1512.00567, as torch weighs it by class):
// loss = loss_scale * sum over rows and j of q[j] * (log_sum_exp(x) - x[j]),
// dx[j] = loss_scale * (softmax(x)[j] * sum of q - q[j]), 0 in an ignored row.
template <class T>
void softmax_cross_entropy(Context&, const RowsShape& shape, const CrossEntropyParams& params, const T* x,
                           const int32_t* labels, const T* class_weights_or_null, T* loss, T* dx_or_null,
                           int64_t* bad_row) {
  const double scale = loss_scale(shape, params, labels, class_weights_or_null, bad_row);
  if (*bad_row >= 0) return;
  double total = 0;
  for (int64_t row = 0; row < shape.rows; ++row, x += shape.cols) {
    T* dx = dx_or_null ? dx_or_null + row * shape.cols : nullptr;
    if (labels[row] == params.ignore_label) {
      if (dx) std::fill_n(dx, shape.cols, T{0});
      continue;
    }
    const auto target = [&](int j) {
      const double smooth = params.label_smoothing / shape.cols;
      const double weight = class_weights_or_null ? class_weights_or_null[j] : 1;
      return weight * (j == labels[row] ? 1 - params.label_smoothing + smooth : smooth);
    };
    const auto [largest, rest] = log_sum_exp(x, shape.cols);
    double sum = 0;
    for (int j = 0; j < shape.cols; ++j) {
      sum += target(j);
      if (target(j) != 0) total += target(j) * (largest - x[j] + rest);
    }
    for (int j = 0; dx && j < shape.cols; ++j) {
      dx[j] = static_cast<T>(scale * (std::exp(x[j] - largest - rest) * sum - target(j)));
    }
  }
  *loss = static_cast<T>(scale * total);
}

}  // namespace dnn::reference
