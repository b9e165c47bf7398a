#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// a where the condition holds, else b; all three are broadcast as arithmetic.h does. The condition is a tensor of
// bools.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b);

}  // namespace dnn
