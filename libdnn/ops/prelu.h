#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// y = x > 0 ? x : slope * x. slope (C) has one value for each channel, the last dimension of x, or (1) one for all.
Tensor prelu(const Tensor& x, const Tensor& slope);

}  // namespace dnn
