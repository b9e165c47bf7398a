#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// y = x * scale, one factor for each channel of each picture: x (N, H, W, C), scale (N, C) or (N, 1, 1, C). The second
// half of squeeze and excitation.
Tensor scale_channels(const Tensor& x, const Tensor& scale);

}  // namespace dnn
