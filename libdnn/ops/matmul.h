#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// The matrix product op(a) op(b); op(a) is a (m, k), or where `trans_a` the transposed of a (k, m); op(b) is b (k, n),
// or where `trans_b` the transposed of b (n, k).
Tensor matmul(const Tensor& a, const Tensor& b, bool trans_a = false, bool trans_b = false);

}  // namespace dnn
