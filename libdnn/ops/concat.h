#pragma once
#include <initializer_list>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// Tensors of any type; gradients where that is a float one. A negative dim counts from the last: -1 joins channels.

// Joins tensors along `dim`; their other sizes are equal.
Tensor concat(const TensorList& parts, int dim);
inline Tensor cat(const TensorList& parts, int dim = 0) { return concat(parts, dim); }

// Joins tensors of one shape along a dimension of their own, before `dim`.
Tensor stack(const TensorList& parts, int dim = 0);

// Parts of x along `dim` of the given sizes, which add up to x's; of one size, the last with what is left; or so many
// parts of one size, fewer where that leaves nothing for the last.
TensorList split(const Tensor& x, const std::vector<int>& sizes, int dim);
inline TensorList split(const Tensor& x, std::initializer_list<int> sizes, int dim) {
  return split(x, std::vector<int>(sizes), dim);
}
TensorList split(const Tensor& x, int size, int dim = 0);
TensorList chunk(const Tensor& x, int chunks, int dim = 0);

}  // namespace dnn
