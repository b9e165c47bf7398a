#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <kernels/backend.h>
#include <kernels/reference/along_axis.h>

// Along one dimension, with the largest value m there taken off before exp() so that nothing overflows:
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

// The sum of f(at) over the values of a line.
template <class F>
double sum_along(const AxisShape& shape, int64_t first, F&& f) {
  double sum = 0;
  for (int j = 0; j < shape.size; ++j) sum += f(first + j * shape.inner);
  return sum;
}

template <class T>
double largest_along(const AxisShape& shape, int64_t first, const T* x) {
  double largest = x[first];
  for (int j = 1; j < shape.size; ++j) largest = std::max(largest, double{x[first + j * shape.inner]});
  return largest;
}

template <class T>
void softmax_forward(Context&, const AxisShape& shape, const T* x, T* y) {
  for_each_line(shape, [&](int64_t, int64_t first) {
    const double largest = largest_along(shape, first, x);
    const double sum = sum_along(shape, first, [&](int64_t at) { return std::exp(x[at] - largest); });
    for (int j = 0; j < shape.size; ++j) {
      const int64_t at = first + j * shape.inner;
      y[at] = static_cast<T>(std::exp(x[at] - largest) / sum);
    }
  });
}

// dx = y * (dy - sum of y * dy)
template <class T>
void softmax_backward(Context&, const AxisShape& shape, const T* y, const T* dy, T* dx) {
  for_each_line(shape, [&](int64_t, int64_t first) {
    const double sum = sum_along(shape, first, [&](int64_t at) { return double{y[at]} * dy[at]; });
    for (int j = 0; j < shape.size; ++j) {
      const int64_t at = first + j * shape.inner;
      dx[at] = static_cast<T>(y[at] * (dy[at] - sum));
    }
  });
}

template <class T>
void log_softmax_forward(Context&, const AxisShape& shape, const T* x, T* y) {
  for_each_line(shape, [&](int64_t, int64_t first) {
    const double largest = largest_along(shape, first, x);
    const double rest = std::log(sum_along(shape, first, [&](int64_t at) { return std::exp(x[at] - largest); }));
    for (int j = 0; j < shape.size; ++j) {
      const int64_t at = first + j * shape.inner;
      y[at] = static_cast<T>(x[at] - largest - rest);
    }
  });
}

// dx = dy - exp(y) * sum of dy
template <class T>
void log_softmax_backward(Context&, const AxisShape& shape, const T* y, const T* dy, T* dx) {
  for_each_line(shape, [&](int64_t, int64_t first) {
    const double sum = sum_along(shape, first, [&](int64_t at) { return double{dy[at]}; });
    for (int j = 0; j < shape.size; ++j) {
      const int64_t at = first + j * shape.inner;
      dx[at] = static_cast<T>(dy[at] - std::exp(double{y[at]}) * sum);
    }
  });
}

// By what the sum of the rows' losses is multiplied: 1 / W for the mean, W the sum of the weights of the labels that
// are not ignored, 0 where there is none; 1 for the sum. Nothing where a label is bad, which sets the status.
template <class T>
std::optional<double> loss_scale(Context& context, LabelOp op, const RowsShape& shape, const CrossEntropyParams& params,
                                 const int32_t* labels, const T* class_weights_or_null) {
  double total = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    if (labels[row] == params.ignore_label) continue;
    if (labels[row] < 0 || labels[row] >= shape.cols) {
      context.status->set_label(op, row, labels[row], shape.cols);
      return {};
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
void softmax_cross_entropy(Context& context, const RowsShape& shape, const CrossEntropyParams& params, const T* x,
                           const int32_t* labels, const T* class_weights_or_null, T* loss, T* dx_or_null) {
  const std::optional<double> scale =
      loss_scale(context, LabelOp::cross_entropy, shape, params, labels, class_weights_or_null);
  *loss = std::numeric_limits<T>::quiet_NaN();
  if (!scale) return;
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
      dx[j] = static_cast<T>(*scale * (std::exp(x[j] - largest - rest) * sum - target(j)));
    }
  }
  *loss = static_cast<T>(*scale * total);
}

template <class T>
void batch_metrics(Context& context, const RowsShape& shape, int64_t step, const T* loss, const T* scores,
                   const int32_t* labels, BatchSums* sums) {
  if (!std::isfinite(*loss)) context.status->set_loss(step, *loss);
  sums->loss += static_cast<double>(*loss) * static_cast<double>(shape.rows);
  for (int64_t row = 0; row < shape.rows; ++row) {
    int32_t best = 0;
    arg_reduce(context, ArgOp::max, {1, shape.cols}, scores + row * shape.cols, &best);
    sums->correct += best == labels[row] ? 1 : 0;
  }
}

}  // namespace dnn::reference
