#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// y = (shift + scale * x) ^ power, element by element. NaN where that is the root of a negative number.
Tensor power(const Tensor& x, double power, double scale = 1, double shift = 0);

}  // namespace dnn
