#pragma once
#include <concepts>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// The largest, or smallest, over some dimensions, over all where none are named; see sum() for `dims` and `keep_dims`.
// NaN where one is. Error where there is no value to choose from. Equal ones share the gradient.
Tensor amax(const Tensor& x, const std::vector<int>& dims = {}, bool keep_dims = false);
Tensor amin(const Tensor& x, const std::vector<int>& dims = {}, bool keep_dims = false);

inline Tensor max(const Tensor& x) { return amax(x); }
inline Tensor min(const Tensor& x) { return amin(x); }

struct ValuesAndIndices {
  Tensor values, indices;
};

// The same along one dimension, and where it is there, int32: the first of equals, which has the gradient.
ValuesAndIndices max(const Tensor& x, int dim, bool keep_dims = false);
ValuesAndIndices min(const Tensor& x, int dim, bool keep_dims = false);

// With a number: maximum() and minimum().
ValuesAndIndices max(const Tensor& x, std::floating_point auto number) = delete;
ValuesAndIndices min(const Tensor& x, std::floating_point auto number) = delete;

}  // namespace dnn
