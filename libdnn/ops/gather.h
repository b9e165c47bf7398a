#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Elements picked by indices, which are int32 or int64 and in 0..size - 1 of the dimension: Error with the first that
// is outside, before anything is read. x may be of any type; gradients for float32 (float64 on reference). What falls
// on one element is added in the order of the indices, whatever the number of threads. A negative dim counts from the
// last.

// y[i][j][k] = x[i][index[i][j][k]][k] for dim 1; y has index's shape, whose other sizes are at most x's.
Tensor gather(const Tensor& x, int dim, const Tensor& index);

// The places `index`, a vector, along a dimension.
Tensor index_select(const Tensor& x, int dim, const Tensor& index);

// Row indices[...] of weight (rows, cols) for each index: (..., cols).
Tensor embedding(const Tensor& weight, const Tensor& indices);

// int64 (..., classes): 1 at the class x[...], else 0.
Tensor one_hot(const Tensor& x, int classes);

}  // namespace dnn
