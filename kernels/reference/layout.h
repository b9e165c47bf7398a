#pragma once
#include <kernels/backend.h>

namespace dnn::reference {

// y[i_0, i_1, ...] = x at the indices with i_d in dimension axes[d].
template <class T>
void transpose(Context&, const TransposeShape& shape, const T* x, T* y) {
  std::array<int64_t, kMaxDims> x_stride{};
  int64_t stride = 1;
  for (int d = shape.dims - 1; d >= 0; --d) {
    x_stride[d] = stride;
    stride *= shape.size[d];
  }
  for (int64_t i = 0; i < stride; ++i) {
    int64_t rest = i, from = 0;
    for (int d = shape.dims - 1; d >= 0; --d) {
      const int axis = shape.axes[d];
      from += rest % shape.size[axis] * x_stride[axis];
      rest /= shape.size[axis];
    }
    y[i] = x[from];
  }
}

template <class T>
void copy_rows(Context&, const RowsShape& shape, int64_t x_pitch, const T* x, int64_t y_pitch, T* y) {
  for (int64_t row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) y[row * y_pitch + col] = x[row * x_pitch + col];
  }
}

}  // namespace dnn::reference
