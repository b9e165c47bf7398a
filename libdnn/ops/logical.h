#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// Of bools, or of floats, of which all but 0 count as true, as a NaN does. The results are bools and have no gradient.
Tensor logical_and(const Tensor& a, const Tensor& b);  // broadcast as arithmetic.h does
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);

// Whether all, or any, are true over some dimensions, over all where none are named. All of nothing are, none is.
Tensor all(const Tensor& x, const std::vector<int>& dims = {}, bool keep_dims = false);
Tensor any(const Tensor& x, const std::vector<int>& dims = {}, bool keep_dims = false);

}  // namespace dnn
