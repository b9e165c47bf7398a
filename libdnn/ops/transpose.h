#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// y's dimension i is x's dimension axes[i]. Shares x's elements where their order stays.
Tensor transpose(const Tensor& x, const std::vector<int>& axes);

// Pictures (N, H, W, C) to (N, C, H, W), and those of other libraries (N, C, H, W) to (N, H, W, C).
Tensor nhwc_to_nchw(const Tensor& x);
Tensor nchw_to_nhwc(const Tensor& x);

// The transposed elements in a shape of any other number of dimensions, recorded as one step in the name of `op`.
Tensor transpose_as(const char* op, const Tensor& x, const TransposeShape& shape, const Shape& y_shape);

}  // namespace dnn
