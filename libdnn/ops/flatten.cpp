#include <libdnn/ops/flatten.h>

#include <fmt/format.h>

#include <limits>

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
  TransposeShape shape{.dims = x.dims(), .size = {}, .axes = {0, 1, 2, 3, 4, 5}};
  std::copy(x.shape().begin(), x.shape().end(), shape.size.begin());
  if (x.dims() == 4) shape.axes = {0, 3, 1, 2};
  return transpose_as("flatten", x, shape, {x.size(0), static_cast<int>(rest)});
}

}  // namespace dnn
