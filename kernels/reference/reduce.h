#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include <kernels/backend.h>

namespace dnn::reference {

namespace detail {

// Some of the dimensions of a dense tensor, with the steps that they make in it.
struct Part {
  int dims = 0;
  std::array<int64_t, kMaxDims> size{}, stride{};
  int64_t count = 1;

  void add(int64_t s, int64_t step) {
    size[dims] = s;
    stride[dims++] = step;
    count *= s;
  }
  // Where the part's element i lies; the part's first dimension changes fastest.
  int64_t offset(int64_t i) const {
    int64_t sum = 0;
    for (int d = 0; d < dims; ++d) {
      sum += i % size[d] * stride[d];
      i /= size[d];
    }
    return sum;
  }
};

// f(result, number of values, value(i)) for every result, where value(i) is the i-th of the values reduced to it.
template <class T, class F>
void for_each_result(const ReduceShape& shape, const T* x, F&& f) {
  Part kept, reduced;
  int64_t stride = 1;
  for (int d = shape.dims - 1; d >= 0; --d) {
    (shape.reduced[d] ? reduced : kept).add(shape.size[d], stride);
    stride *= shape.size[d];
  }
  for (int64_t i = 0; i < kept.count; ++i) {
    const T* first = x + kept.offset(i);
    f(i, reduced.count, [&](int64_t j) -> double { return first[reduced.offset(j)]; });
  }
}

inline double first_value(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return 1;
    case ReduceOp::max:
      return -std::numeric_limits<double>::infinity();
    case ReduceOp::min:
      return std::numeric_limits<double>::infinity();
    case ReduceOp::sum:
      break;
  }
  return 0;
}

inline double joined(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::max:
      return std::isnan(a) || a > b ? a : b;
    case ReduceOp::min:
      return std::isnan(a) || a < b ? a : b;
    case ReduceOp::sum:
      break;
  }
  return a + b;
}

}  // namespace detail

template <class T>
void reduce(Context&, ReduceOp op, const ReduceShape& shape, double scale, const T* x, T* y) {
  detail::for_each_result(shape, x, [&](int64_t result, int64_t count, auto value) {
    double total = detail::first_value(op);
    for (int64_t i = 0; i < count; ++i) total = detail::joined(op, total, value(i));
    y[result] = static_cast<T>(scale * total);
  });
}

// Two passes, the second over the differences from the mean.
template <class T>
void moments(Context&, const ReduceShape& shape, double correction, const T* x, T* mean, T* var) {
  detail::for_each_result(shape, x, [&](int64_t result, int64_t count, auto value) {
    const auto cells = static_cast<double>(count);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; ++i) sum += value(i);
    for (int64_t i = 0; i < count; ++i) squares += (value(i) - sum / cells) * (value(i) - sum / cells);
    mean[result] = static_cast<T>(sum / cells);
    var[result] = static_cast<T>(squares / std::max(cells - correction, 0.0));
  });
}

}  // namespace dnn::reference
