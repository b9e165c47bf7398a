#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// y = x > 0 ? x : slope * x. slope has any shape that broadcasts to that of x: (C) has one value for
// each channel, the last dimension of x, (1) one for all.
Tensor prelu(const Tensor& x, const Tensor& slope);

}  // namespace dnn
