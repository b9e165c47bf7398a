#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// The same elements without the dimensions of size 1, or without one of them, where it is of size 1.
Tensor squeeze(const Tensor& x);
Tensor squeeze(const Tensor& x, int dim);

// The same elements with a dimension of size 1 more, before `dim`, or behind the last one where that is -1.
Tensor unsqueeze(const Tensor& x, int dim);

}  // namespace dnn
