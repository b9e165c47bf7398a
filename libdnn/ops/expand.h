#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// A tensor of any type, repeated; gradients, which are sums, for float32 (float64 on reference).

// Dimensions of size 1 repeated to the sizes given, -1 for one that stays. More sizes than x has dimensions add some in
// front. x itself where it has that shape.
Tensor expand(const Tensor& x, const std::vector<int>& sizes);

// The whole of x so many times along each dimension; more of them than x has dimensions add some in front.
Tensor repeat(const Tensor& x, const std::vector<int>& times);

}  // namespace dnn
