#pragma once
#include <concepts>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// The sum of (x - mean)^2 / (values - correction) over some dimensions, over all where none are named, and its root;
// see sum() for `dims` and `keep_dims`. NaN where there are too few values. The gradient of the root is 0 where that is
// 0.
Tensor var(const Tensor& x, const std::vector<int>& dims = {}, double correction = 1, bool keep_dims = false);
Tensor std(const Tensor& x, const std::vector<int>& dims = {}, double correction = 1, bool keep_dims = false);

// The third argument is a number, not keep_dims.
Tensor var(const Tensor& x, const std::vector<int>& dims, std::same_as<bool> auto correction, bool = false) = delete;
Tensor std(const Tensor& x, const std::vector<int>& dims, std::same_as<bool> auto correction, bool = false) = delete;

// Both moments of one pass.
struct VarAndMean {
  Tensor var, mean;
};
VarAndMean var_mean(const Tensor& x, const std::vector<int>& dims = {}, double correction = 1, bool keep_dims = false);

}  // namespace dnn
