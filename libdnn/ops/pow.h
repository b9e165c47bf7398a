#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// a to the power b, element by element, broadcast as arithmetic.h does; as std::pow. NaN for the root of a negative
// number.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(double a, const Tensor& b);

}  // namespace dnn
