#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// The larger, or smaller, of both, element by element, broadcast as arithmetic.h does; NaN where one is. Of equal ones
// each has half the gradient.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, double b);
Tensor minimum(const Tensor& a, double b);

}  // namespace dnn
