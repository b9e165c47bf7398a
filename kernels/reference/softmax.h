#pragma once
#include <algorithm>
#include <cmath>

#include <kernels/backend.h>

// Row by row, with the largest value m of the row taken off before exp() so that nothing overflows:
//   softmax(x)[j] = exp(x[j] - m) / sum over i of exp(x[i] - m), log_softmax its logarithm.
namespace dnn::reference {

// log of the sum of exp(x[j]).
template <class T>
double log_sum_exp(const T* x, int cols) {
  const double largest = *std::max_element(x, x + cols);
  double sum = 0;
  for (int j = 0; j < cols; ++j) sum += std::exp(x[j] - largest);
  return largest + std::log(sum);
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
    const double total = log_sum_exp(x, shape.cols);
    for (int j = 0; j < shape.cols; ++j) y[j] = static_cast<T>(x[j] - total);
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

// loss = mean over the counted rows of log_sum_exp(x) - x[label], dx = (softmax(x) - [j == label]) / counted rows, 0 in
// an ignored row.
template <class T>
void softmax_cross_entropy(Context&, const RowsShape& shape, const T* x, const int32_t* labels, int32_t ignore_label,
                           T* loss, T* dx_or_null, int64_t* bad_row) {
  *bad_row = -1;
  int64_t counted = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    if (labels[row] == ignore_label) continue;
    if (labels[row] < 0 || labels[row] >= shape.cols) {
      *bad_row = row;
      return;
    }
    ++counted;
  }
  double total = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    const bool ignored = labels[row] == ignore_label;
    const T* logits = x + row * shape.cols;
    const double log_sum = ignored ? 0 : log_sum_exp(logits, shape.cols);
    if (!ignored) total += log_sum - logits[labels[row]];
    if (!dx_or_null) continue;
    T* dx = dx_or_null + row * shape.cols;
    for (int j = 0; j < shape.cols; ++j) {
      const double probability = ignored ? 0 : std::exp(logits[j] - log_sum);
      dx[j] = ignored ? T{0} : static_cast<T>((probability - (j == labels[row])) / counted);
    }
  }
  *loss = static_cast<T>(counted > 0 ? total / counted : 0);
}

template <class T>
void argmax(Context&, const RowsShape& shape, const T* x, int32_t* y) {
  for (int64_t row = 0; row < shape.rows; ++row, x += shape.cols) {
    int best = 0;
    for (int j = 1; j < shape.cols && !std::isnan(x[best]); ++j) {
      if (x[j] > x[best] || std::isnan(x[j])) best = j;
    }
    y[row] = best;
  }
}

}  // namespace dnn::reference
