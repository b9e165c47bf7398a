#pragma once
#include <array>

#include <libdnn/core/tensor.h>

namespace dnn {

// x (N, H, W, C) with borders (top, left, bottom, right) of `value`; a negative border takes pixels away.
Tensor pad2d(const Tensor& x, std::array<int, 4> borders, double value = 0);

}  // namespace dnn
