#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// Parts of a tensor of any type, copied; gradients where the type is a float one. A negative dim counts from the last.
// See Tensor::slice too.

// The place `index` along a dimension, which is dropped. A negative index counts from the end; Error for one outside.
// x[i] is select(x, 0, i).
Tensor select(const Tensor& x, int dim, int index);

// `length` places along a dimension from `start` on; Error where they are not all there.
Tensor narrow(const Tensor& x, int dim, int start, int length);

// The places along each of the dimensions named in reverse order.
Tensor flip(const Tensor& x, const std::vector<int>& dims);

}  // namespace dnn
