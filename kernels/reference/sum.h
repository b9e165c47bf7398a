#pragma once
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

}  // namespace detail

// y[kept indices] = scale * sum of x over the other indices; the sum of nothing is 0.
template <class T>
void sum(Context&, const ReduceShape& shape, T scale, const T* x, T* y) {
  detail::Part kept, reduced;
  int64_t stride = 1;
  for (int d = shape.dims - 1; d >= 0; --d) {
    (shape.reduced[d] ? reduced : kept).add(shape.size[d], stride);
    stride *= shape.size[d];
  }
  for (int64_t i = 0; i < kept.count; ++i) {
    const int64_t first = kept.offset(i);
    double total = 0;
    for (int64_t j = 0; j < reduced.count; ++j) total += x[first + reduced.offset(j)];
    y[i] = static_cast<T>(scale * total);
  }
}

}  // namespace dnn::reference
