#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// Tensors of any type; gradients where that is a float one. A negative dimension counts from the last.

// y's dimension i is x's dimension dims[i]. Shares x's elements where their order stays.
Tensor permute(const Tensor& x, const std::vector<int>& dims);
Tensor transpose(const Tensor& x, const std::vector<int>& axes);  // the same
Tensor transpose(const Tensor& x, int dim0, int dim1);            // these two exchanged

// Pictures (N, H, W, C) to (N, C, H, W), and those of other libraries (N, C, H, W) to (N, H, W, C).
Tensor nhwc_to_nchw(const Tensor& x);
Tensor nchw_to_nhwc(const Tensor& x);

// The permuted elements in a shape of any other number of dimensions, recorded as one step in the name of `op`.
Tensor permute_as(const char* op, const Tensor& x, const std::vector<int>& dims, const Shape& y_shape);

}  // namespace dnn
