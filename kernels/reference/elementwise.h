#pragma once
#include <kernels/backend.h>

namespace dnn::reference {

// f(a offset, b offset, y offset) for every element of the result, in its order.
template <class F>
void for_each_pair(const BroadcastShape& shape, F&& f) {
  const int64_t count = shape.count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, a = 0, b = 0;
    for (int d = shape.dims - 1; d >= 0; --d) {
      const int64_t index = rest % shape.size[d];
      rest /= shape.size[d];
      a += index * shape.a_stride[d];
      b += index * shape.b_stride[d];
    }
    f(a, b, i);
  }
}

template <class T>
void add(Context&, const BroadcastShape& shape, const T* a, const T* b, T* y) {
  for_each_pair(shape, [&](int64_t i, int64_t j, int64_t at) { y[at] = a[i] + b[j]; });
}

template <class T>
void sub(Context&, const BroadcastShape& shape, const T* a, const T* b, T* y) {
  for_each_pair(shape, [&](int64_t i, int64_t j, int64_t at) { y[at] = a[i] - b[j]; });
}

template <class T>
void mul(Context&, const BroadcastShape& shape, const T* a, const T* b, T* y) {
  for_each_pair(shape, [&](int64_t i, int64_t j, int64_t at) { y[at] = a[i] * b[j]; });
}

template <class T>
void div(Context&, const BroadcastShape& shape, const T* a, const T* b, T* y) {
  for_each_pair(shape, [&](int64_t i, int64_t j, int64_t at) { y[at] = a[i] / b[j]; });
}

}  // namespace dnn::reference
