#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Where the largest, or smallest, value along a dimension is, int32: (N, classes) to (N). The first of several; a NaN
// counts as the best. The dimension is dropped, or kept with size 1 where `keep_dims`. Not recorded.
Tensor argmax(const Tensor& x, int dim = -1, bool keep_dims = false);
Tensor argmin(const Tensor& x, int dim = -1, bool keep_dims = false);

}  // namespace dnn
