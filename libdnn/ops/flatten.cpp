#include <libdnn/ops/flatten.h>

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include <libdnn/ops/transpose.h>

namespace dnn {

Tensor flatten(const Tensor& x) {
  if (x.dims() == 0) throw Error("[flatten] x must have a first dimension; got ()");
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  int64_t rest = 1;
  for (int i = 1; i < x.dims() && rest <= kMost; ++i) rest *= x.size(i);
  if (rest > kMost) {
    throw Error(fmt::format("[flatten] at most {} values for each of N; got {}", kMost, x.shape().str()));
  }
  std::vector<int> dims(static_cast<size_t>(x.dims()));
  std::iota(dims.begin(), dims.end(), 0);
  if (x.dims() == 4) dims = {0, 3, 1, 2};
  return permute_as("flatten", x, dims, {x.size(0), static_cast<int>(rest)});
}

}  // namespace dnn
