#pragma once
#include <kernels/shapes.h>

namespace dnn::cpu {

// Some dimensions of a dense tensor, the last of them the fastest.
struct Axes {
  int dims = 0;
  std::array<int64_t, kMaxDims> size{}, stride{};
  int64_t count = 1;

  void add(int64_t axis_size, int64_t axis_stride) {
    size[dims] = axis_size;
    stride[dims++] = axis_stride;
    count *= axis_size;
  }
};

// Steps through the places of axes in their order.
class Walk {
 public:
  Walk(const Axes& axes, int64_t place) : axes_(axes) {
    for (int dim = axes.dims - 1; dim >= 0; --dim) {
      at_[dim] = place % axes.size[dim];
      place /= axes.size[dim];
      offset_ += at_[dim] * axes.stride[dim];
    }
  }

  int64_t offset() const { return offset_; }

  void next() {
    for (int dim = axes_.dims - 1; dim >= 0; --dim) {
      offset_ += axes_.stride[dim];
      if (++at_[dim] < axes_.size[dim]) return;
      offset_ -= axes_.size[dim] * axes_.stride[dim];
      at_[dim] = 0;
    }
  }

 private:
  const Axes& axes_;
  std::array<int64_t, kMaxDims> at_{};
  int64_t offset_ = 0;
};

}  // namespace dnn::cpu
