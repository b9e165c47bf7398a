#pragma once
#include <kernels/cpu/axes.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// A transpose without its dimensions of size 1 and with those merged that stay neighbours. For every place of the outer
// dimensions, y[a * y_pitch + b] = x[b * x_pitch + a], where a is the last dimension of x and b that of y; or, where
// they are the same one ("rows"), y[b] = x[b].
struct TransposePlan {
  bool rows = false;
  Axes x_outer, y_outer;  // in the order of y
  int64_t a_size = 1, b_size = 1, x_pitch = 1, y_pitch = 1;

  explicit TransposePlan(const TransposeShape& shape) {
    std::array<int64_t, kMaxDims> stride{}, size{}, x_stride{};
    int64_t step = 1;
    for (int dim = shape.dims - 1; dim >= 0; --dim) {
      stride[dim] = step;
      step *= shape.size[dim];
    }
    int dims = 0;
    for (int i = 0; i < shape.dims; ++i) {
      const int axis = shape.axes[i];
      if (shape.size[axis] == 1) continue;
      const bool joins = dims > 0 && x_stride[dims - 1] == stride[axis] * shape.size[axis];
      if (!joins) size[dims++] = 1;
      size[dims - 1] *= shape.size[axis];
      x_stride[dims - 1] = stride[axis];
    }
    rows = dims == 0 || x_stride[dims - 1] == 1;
    if (dims > 0) {
      b_size = size[dims - 1];
      x_pitch = x_stride[dims - 1];
    }
    int64_t y_stride = step;
    for (int dim = 0; dim < dims - 1; ++dim) {
      y_stride /= size[dim];
      if (x_stride[dim] == 1) {
        a_size = size[dim];
        y_pitch = y_stride;
      } else {
        x_outer.add(size[dim], x_stride[dim]);
        y_outer.add(size[dim], y_stride);
      }
    }
  }
};

}  // namespace dnn::cpu
