#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// y[i] = x[0] + ... + x[i] along a dimension.
Tensor cumsum(const Tensor& x, int dim);

}  // namespace dnn
