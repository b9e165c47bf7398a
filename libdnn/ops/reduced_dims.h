#pragma once
#include <array>
#include <vector>

#include <kernels/params.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// What the reductions share: the dimensions that go, all where none are named.
class ReducedDims {
 public:
  ReducedDims(const char* op, const Shape& x, const std::vector<int>& dims);

  ReduceShape shape() const;  // neighbouring dimensions of one kind as one
  Shape result(bool keep_dims) const;
  double cells() const;  // values a result

 private:
  Shape x_;
  std::array<bool, kMaxDims> reduced_{};
};

// y = scale * the reduction of x, not recorded.
Tensor reduce(const char* op, ReduceOp kind, const Tensor& x, const ReduceShape& shape, const Shape& y_shape,
              double scale);

// One dimension of x for the kernels that work along it; a negative dim counts from the last.
AxisShape axis_shape(const char* op, const Shape& x, int dim);

}  // namespace dnn
