#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Along one dimension, the last unless said otherwise: exp(x) / sum exp(x), and its logarithm. No finite x overflows.
Tensor softmax(const Tensor& x, int dim = -1);
Tensor log_softmax(const Tensor& x, int dim = -1);

}  // namespace dnn
