#pragma once
#include <cstring>

#include <kernels/backend.h>

namespace dnn::reference {

// y at the sum of i_d * y_stride[d] = x at the sum of i_d * x_stride[d], for all indices i.
inline void copy_strided(Context&, const StridedShape& shape, int element_size, const void* x, void* y) {
  for (int64_t i = 0; i < shape.count(); ++i) {
    int64_t rest = i, from = 0, to = 0;
    for (int d = shape.dims - 1; d >= 0; --d) {
      from += rest % shape.size[d] * shape.x_stride[d];
      to += rest % shape.size[d] * shape.y_stride[d];
      rest /= shape.size[d];
    }
    std::memcpy(static_cast<char*>(y) + to * element_size, static_cast<const char*>(x) + from * element_size,
                static_cast<size_t>(element_size));
  }
}

// All elements of y have the bytes that `bits` begins with.
inline void fill(Context&, int element_size, int64_t count, uint64_t bits, void* y) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(y) + i * element_size, &bits, static_cast<size_t>(element_size));
  }
}

}  // namespace dnn::reference
