#pragma once
#include <kernels/unary.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// y = f(x), element by element, and its gradient, for the operations of ops/activation.h, math.h and arithmetic.h.
Tensor unary(const char* name, const UnaryParams& f, const Tensor& x);

}  // namespace dnn
