#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Element by element; y has x's shape.
Tensor relu(const Tensor& x);     // max(x, 0)
Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))
Tensor tanh(const Tensor& x);

}  // namespace dnn
