#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// Joins tensors along `dim`; their other sizes are equal. A negative dim counts from the last: -1 joins channels.
Tensor concat(const TensorList& parts, int dim);

// The way back: parts of x along `dim` of the given sizes, which add up to x's.
TensorList split(const Tensor& x, const std::vector<int>& sizes, int dim);

}  // namespace dnn
