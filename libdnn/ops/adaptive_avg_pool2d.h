#pragma once
#include <array>

#include <libdnn/core/tensor.h>

namespace dnn {

// The mean of each of `size` (height, width) windows that cover the picture evenly: x (N, H, W, C), y (N, OH, OW, C).
// Window i goes from floor(i * H / OH) up to, but without, ceil((i + 1) * H / OH), as torch's. {1, 1} is the average
// over all pixels; x itself where it has the size already.
Tensor adaptive_avg_pool2d(const Tensor& x, std::array<int, 2> size);

}  // namespace dnn
