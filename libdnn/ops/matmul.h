#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// The matrix product op(a) op(b), by torch's rules. Matrices are the last two dimensions: op(a) is a (..., m, k), or
// where `trans_a` each matrix of a (..., k, m) transposed; op(b) is b (..., k, n), or where `trans_b` each of b (...,
// n, k) transposed. The dimensions before them broadcast. A vector a (k) stands for a row, a vector b (k) for a column,
// and the result lacks that dimension: that of two vectors is one number.
Tensor matmul(const Tensor& a, const Tensor& b, bool trans_a = false, bool trans_b = false);

// As many products: a (N, m, k), b (N, k, n).
Tensor bmm(const Tensor& a, const Tensor& b);

}  // namespace dnn
