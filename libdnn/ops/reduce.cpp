#include <libdnn/ops/reduce.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/compare.h>
#include <libdnn/ops/reduced_dims.h>
#include <libdnn/ops/strided.h>
#include <libdnn/ops/where.h>

namespace dnn {
namespace {

// How dy repeats along the dimensions that were summed, beside a number that repeats everywhere.
BroadcastShape back(const ReduceShape& forward) {
  BroadcastShape shape;
  shape.dims = forward.dims;
  shape.size = forward.size;
  int64_t step = 1;
  for (int i = forward.dims - 1; i >= 0; --i) {
    if (forward.reduced[i]) continue;
    shape.a_stride[i] = step;
    step *= forward.size[i];
  }
  return shape;
}

Tensor scaled_sum(const char* op, const Tensor& x, const ReduceShape& shape, const Shape& y_shape, double scale) {
  Tensor y = reduce(op, ReduceOp::sum, x, shape, y_shape, scale);
  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, shape, scale, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    const Tensor dx(x_shape, dy[0].dtype(), dy[0].device());
    const Tensor factor = full({}, scale, dx.dtype(), dx.device());
    run_kernel(op, {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.binary(context, BinaryOp::mul, back(shape), dy[0].data<T>(), factor.data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

// Of the others' product: with one 0 among them, all but its own is 0.
Tensor prod_backward(const Tensor& x, const std::vector<int>& dims, const Tensor& dy) {
  const Tensor zero = eq(x, 0), factors = where(zero, 1, x);
  const Tensor product = prod(factors, dims, true);
  const Tensor zeros = sum(zero.to(x.dtype()), dims, true);
  const Tensor of_others = where(zero, where(eq(zeros, 1), product, 0), where(eq(zeros, 0), product / factors, 0));
  return dy * of_others;
}

}  // namespace

Tensor sum(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  const ReducedDims reduced("sum", x.shape(), dims);
  return scaled_sum("sum", x, reduced.shape(), reduced.result(keep_dims), 1);
}

Tensor mean(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  const ReducedDims reduced("mean", x.shape(), dims);
  return scaled_sum("mean", x, reduced.shape(), reduced.result(keep_dims), 1 / reduced.cells());
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int missing = x.dims() - shape.dims();
  bool fits = missing >= 0;
  std::vector<int> dims;
  for (int i = 0; fits && i < x.dims(); ++i) {
    const bool repeated = i < missing || (shape[i - missing] == 1 && x.size(i) != 1);
    if (repeated) dims.push_back(i);
    fits = repeated || shape[i - missing] == x.size(i);
  }
  if (!fits) throw Error(fmt::format("[sum_to] {} does not broadcast to {}", shape.str(), x.shape().str()));
  ReduceShape reduced;  // of no dimension where all that is repeated has size 1
  if (!dims.empty()) reduced = ReducedDims("sum_to", x.shape(), dims).shape();
  return scaled_sum("sum_to", x, reduced, shape, 1);
}

Tensor prod(const Tensor& x, const std::vector<int>& dims, bool keep_dims) {
  const ReducedDims reduced("prod", x.shape(), dims);
  Tensor y = reduce("prod", ReduceOp::prod, x, reduced.shape(), reduced.result(keep_dims), 1);
  if (!wants_grad(x)) return y;
  record("prod", {x}, {y}, [x, dims, kept = reduced.result(true)](const TensorList& dy) -> TensorList {
    return {prod_backward(x, dims, in_shape(dy[0], kept))};
  });
  return y;
}

}  // namespace dnn
