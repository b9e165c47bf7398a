#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// (N, H, W, C) to (N, C * H * W), the elements in the order C, H, W, so that the weights of a dense layer behind it are
// those of PyTorch and Caffe; other shapes (N, ...) to (N, rest) in their order. A copy only where the order changes.
Tensor flatten(const Tensor& x);

}  // namespace dnn
