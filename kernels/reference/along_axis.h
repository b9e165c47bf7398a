#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <kernels/backend.h>

namespace dnn::reference {

// f(line, offset of its first value in x) for every line of values along the axis, which lie `inner` apart.
template <class F>
void for_each_line(const AxisShape& shape, F&& f) {
  for (int64_t outer = 0; outer < shape.outer; ++outer) {
    for (int64_t inner = 0; inner < shape.inner; ++inner) {
      f(outer * shape.inner + inner, outer * shape.size * shape.inner + inner);
    }
  }
}

template <class T>
bool is_larger(T a, T b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

template <class T>
void arg_reduce(Context&, ArgOp op, const AxisShape& shape, const T* x, int32_t* index) {
  for_each_line(shape, [&](int64_t line, int64_t first) {
    int32_t best = 0;
    for (int32_t i = 1; i < shape.size; ++i) {
      const T value = x[first + i * shape.inner], before = x[first + best * shape.inner];
      const bool better = op == ArgOp::max ? value > before : value < before;
      if (better || (std::isnan(value) && !std::isnan(before))) best = i;
    }
    index[line] = best;
  });
}

template <class T>
void cumsum(Context&, const AxisShape& shape, bool reverse, const T* x, T* y) {
  for_each_line(shape, [&](int64_t, int64_t first) {
    double sum = 0;
    for (int i = 0; i < shape.size; ++i) {
      const int64_t at = first + (reverse ? shape.size - 1 - i : i) * shape.inner;
      sum += x[at];
      y[at] = static_cast<T>(sum);
    }
  });
}

template <class T>
void topk(Context&, const AxisShape& shape, int k, bool largest, const T* x, T* values, int32_t* index) {
  std::vector<int32_t> order(static_cast<size_t>(shape.size));
  for_each_line(shape, [&](int64_t line, int64_t first) {
    const auto value = [&](int32_t i) { return x[first + i * shape.inner]; };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return largest ? is_larger(value(a), value(b)) : is_larger(value(b), value(a));
    });
    const int64_t y_first = line / shape.inner * k * shape.inner + line % shape.inner;
    for (int i = 0; i < k; ++i) {
      values[y_first + i * shape.inner] = value(order[i]);
      index[y_first + i * shape.inner] = order[i];
    }
  });
}

}  // namespace dnn::reference
