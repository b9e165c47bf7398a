#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Over the last dimension: exp(x) / sum exp(x), and its logarithm. No finite x overflows.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);

}  // namespace dnn
