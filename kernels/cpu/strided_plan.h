#pragma once
#include <cstdlib>

#include <kernels/cpu/axes.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// A strided copy as one of two loops, for every place of its outer dimensions:
//   rows: y[r * y_pitch + c * y_step] = x[r * x_pitch + c * x_step]; both steps may be 1
//   planes: y[a * y_pitch + b] = x[b * x_pitch + a], where the elements of a row of x stand in a column of y
// Dimensions of size 1 are left out, the others taken in the order of y's strides, and those merged that both sides
// step through as through one.
struct StridedPlan {
  bool planes = false;
  Axes x_outer, y_outer;
  int64_t rows = 1, cols = 1;  // of planes the sizes of a and b
  int64_t x_pitch = 0, y_pitch = 0, x_step = 1, y_step = 1;

  explicit StridedPlan(const StridedShape& shape) {
    struct Axis {
      int64_t size, x, y;
    };
    std::array<Axis, kMaxDims> axes{};
    int dims = 0;
    for (int i = 0; i < shape.dims; ++i) {
      if (shape.size[i] == 1) continue;
      int place = dims++;
      for (; place > 0 && std::abs(axes[place - 1].y) < std::abs(shape.y_stride[i]); --place) {
        axes[place] = axes[place - 1];
      }
      axes[place] = {shape.size[i], shape.x_stride[i], shape.y_stride[i]};
    }
    int merged = 0;
    for (int i = 0; i < dims; ++i) {
      Axis* const last = merged > 0 ? &axes[merged - 1] : nullptr;
      if (last && last->x == axes[i].x * axes[i].size && last->y == axes[i].y * axes[i].size) {
        *last = {last->size * axes[i].size, axes[i].x, axes[i].y};
      } else {
        axes[merged++] = axes[i];
      }
    }
    if (merged == 0) return;

    const Axis inner = axes[merged - 1];
    cols = inner.size;
    x_step = inner.x;
    y_step = inner.y;
    int second = merged - 2;
    if (inner.y == 1 && inner.x != 1 && inner.x != 0) {
      for (int i = 0; i < merged - 1; ++i) {
        if (axes[i].x == 1) planes = true, second = i;
      }
    }
    if (second >= 0) {
      rows = axes[second].size;
      x_pitch = planes ? inner.x : axes[second].x;
      y_pitch = axes[second].y;
    }
    for (int i = 0; i < merged - 1; ++i) {
      if (i == second) continue;
      x_outer.add(axes[i].size, axes[i].x);
      y_outer.add(axes[i].size, axes[i].y);
    }
  }

  bool dense_rows() const { return !planes && x_step == 1 && y_step == 1; }

  // Dense rows in other units: f(a number of elements) for every size and stride.
  template <class F>
  void rescale(F&& f) {
    for (int64_t* value : {&cols, &x_pitch, &y_pitch}) *value = f(*value);
    for (int i = 0; i < x_outer.dims; ++i) {
      x_outer.stride[i] = f(x_outer.stride[i]);
      y_outer.stride[i] = f(y_outer.stride[i]);
    }
  }
};

}  // namespace dnn::cpu
