#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Local response normalisation along the last dimension, the channels: y = x * (k + alpha / size * sum of x^2) ^ -beta,
// summed over the `size` channels around each, cut off at the first and the last.
Tensor local_response_norm(const Tensor& x, int size, double alpha = 1e-4, double beta = 0.75, double k = 1);

}  // namespace dnn
