#include <libdnn/ops/argmax.h>

#include <fmt/format.h>

#include <libdnn/core/dispatch.h>
#include <libdnn/ops/reduced_dims.h>

namespace dnn {
namespace {

Tensor place_of_best(const char* op, ArgOp kind, const Tensor& x, int dim, bool keep_dims) {
  const AxisShape shape = axis_shape(x.shape(), dim);
  if (shape.size == 0) {
    throw Error(fmt::format("[{}] needs at least one value along dimension {}; got {}", op, dim, x.shape().str()));
  }
  Tensor y(keep_dims ? with_dim_size(x.shape(), dim, 1) : without_dim(x.shape(), dim), DType::int32, x.device());
  run_kernel(op, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.arg_reduce(context, kind, shape, x.data<T>(), y.data<int32_t>());
  });
  return y;
}

}  // namespace

Tensor argmax(const Tensor& x, int dim, bool keep_dims) {
  return place_of_best("argmax", ArgOp::max, x, dim, keep_dims);
}

Tensor argmin(const Tensor& x, int dim, bool keep_dims) {
  return place_of_best("argmin", ArgOp::min, x, dim, keep_dims);
}

}  // namespace dnn
