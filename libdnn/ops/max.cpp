#include <libdnn/ops/max.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/argmax.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/compare.h>
#include <libdnn/ops/logical.h>
#include <libdnn/ops/reduce.h>
#include <libdnn/ops/reduced_dims.h>
#include <libdnn/ops/strided.h>

namespace dnn {
namespace {

void check_values_to_choose(const char* op, const Tensor& x, const ReducedDims& reduced) {
  if (reduced.cells() > 0 || reduced.result(false).numel() == 0) return;
  throw Error(fmt::format("[{}] needs at least one value to choose from; got {}", op, x.shape().str()));
}

Tensor extreme(const char* op, ReduceOp kind, const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  const ReducedDims reduced(op, x.shape(), dims);
  check_values_to_choose(op, x, reduced);
  Tensor y = reduce(op, kind, x, reduced.shape(), reduced.result(keep_dims), 1);
  if (!wants_grad(x)) return y;
  const Shape kept = reduced.result(true);
  record(op, {x}, {y}, [x, dims, kept, y = in_shape(y, kept)](const TensorList& dy) -> TensorList {
    const Tensor chosen = logical_or(eq(x, y), logical_and(isnan(x), isnan(y)));
    const Tensor ones_there = chosen.to(x.dtype());
    return {ones_there * (in_shape(dy[0], kept) / sum(ones_there, dims, true))};
  });
  return y;
}

ValuesAndIndices extreme_along(const char* op, ReduceOp kind, Tensor (*place)(const Tensor&, int, bool),
                               const Tensor& x, int dim, bool keep_dims) {
  const ReducedDims reduced(op, x.shape(), {dim});
  check_values_to_choose(op, x, reduced);
  const Tensor y = reduce(op, kind, x, reduced.shape(), reduced.result(keep_dims), 1);
  const Tensor index = place(x, dim, keep_dims);
  if (!wants_grad(x)) return {y, index};
  record(op, {x}, {y}, [op, index, dim, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    return {scatter_along(op, x_shape, dim, 1, index, dy[0])};
  });
  return {y, index};
}

}  // namespace

Tensor amax(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  return extreme("amax", ReduceOp::max, x, dims, keep_dims);
}

Tensor amin(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  return extreme("amin", ReduceOp::min, x, dims, keep_dims);
}

ValuesAndIndices max(const Tensor& x, int dim, bool keep_dims) {
  return extreme_along("max", ReduceOp::max, argmax, x, dim, keep_dims);
}

ValuesAndIndices min(const Tensor& x, int dim, bool keep_dims) {
  return extreme_along("min", ReduceOp::min, argmin, x, dim, keep_dims);
}

}  // namespace dnn
