#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// PyTorch's default for the weights and biases of convolutions and dense layers: uniform in +-1 / sqrt(fan_in), where
// fan_in is how many products make up a result. ("Kaiming uniform", He et al., ICCV 2015, with a = sqrt(5).)
Tensor default_init(const Shape& shape, int64_t fan_in);

}  // namespace dnn
