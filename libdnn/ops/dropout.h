#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Each element is 0 with probability p, else x / (1 - p), so that its mean stays; p is from 0 to 1. x itself where not
// in training or p is 0; else takes the next number of the program's random stream.
Tensor dropout(const Tensor& x, double p, bool training = true);

}  // namespace dnn
