#pragma once
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// The sum or mean over some dimensions, over all where none are named; a negative dim counts from the last. The
// dimensions are dropped, or kept with size 1 where `keep_dims`. The mean of no values is NaN.
Tensor sum(const Tensor& x, const std::vector<int>& dims = {}, bool keep_dims = false);
Tensor mean(const Tensor& x, const std::vector<int>& dims = {}, bool keep_dims = false);

// The product; that of no values is 1.
Tensor prod(const Tensor& x, const std::vector<int>& dims = {}, bool keep_dims = false);

// The sum of x in a shape that broadcasts to x's, over what is repeated there: the gradient of broadcasting. x itself
// where it has that shape already.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace dnn
