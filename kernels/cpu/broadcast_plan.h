#pragma once
#include <kernels/shapes.h>

namespace dnn::cpu {

// Broadcast operands, a scalar result as a dimension of one. Along the last dimension an operand steps by one or stands
// still.
template <int kOperands>
struct BroadcastPlan {
  using Sizes = std::array<int64_t, kMaxDims>;
  int dims = 1;
  Sizes size{1};
  std::array<Sizes, kOperands> stride{};

  template <class... Strides>
  BroadcastPlan(int of_dims, const Sizes& of_size, const Strides&... strides) {
    if (of_dims == 0) {
      for (Sizes& steps : stride) steps[0] = 1;
      return;
    }
    dims = of_dims;
    size = of_size;
    stride = {strides...};
  }

  int64_t count() const {
    int64_t product = 1;
    for (int dim = 0; dim < dims; ++dim) product *= size[dim];
    return product;
  }
  bool steps(int operand) const { return stride[operand][dims - 1] != 0; }
  // Whether every operand is as the result.
  bool flat() const {
    for (const Sizes& steps : stride) {
      if (dims != 1 || steps[0] != 1) return false;
    }
    return true;
  }
};

inline BroadcastPlan<2> broadcast_plan(const BroadcastShape& s) { return {s.dims, s.size, s.a_stride, s.b_stride}; }

inline BroadcastPlan<3> broadcast_plan(const TernaryShape& s) {
  return {s.dims, s.size, s.condition_stride, s.a_stride, s.b_stride};
}

}  // namespace dnn::cpu
