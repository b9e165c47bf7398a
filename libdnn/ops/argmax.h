#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Where the largest value along the last dimension is, int32: (N, classes) to (N). The first of several; a NaN counts
// as the largest. Not recorded.
Tensor argmax(const Tensor& x);

}  // namespace dnn
