#include <libdnn/ops/topk.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/reduced_dims.h>
#include <libdnn/ops/strided.h>

namespace dnn {

ValuesAndIndices topk(const Tensor& x, int k, int dim, bool largest) {
  const AxisShape shape = axis_shape("topk", x.shape(), dim);
  if (k < 0 || k > shape.size) {
    throw Error(fmt::format("[topk] k must be from 0 to {}, the size of dimension {} of {}; got {}", shape.size, dim,
                            x.shape().str(), k));
  }
  const Shape y_shape = with_size(x.shape(), dim, k);
  Tensor values(y_shape, x.dtype(), x.device()), index(y_shape, DType::int32, x.device());
  run_kernel("topk", {&x}, [&]<class T>(const Kernels<T>& kernels, Context& context) {
    kernels.topk(context, shape, k, largest, x.data<T>(), values.data<T>(), index.data<int32_t>());
  });
  if (!wants_grad(x)) return {values, index};
  record("topk", {x}, {values}, [dim, k, index, x_shape = x.shape()](const TensorList& dy) -> TensorList {
    return {scatter_along("topk", x_shape, dim, k, index, dy[0])};
  });
  return {values, index};
}

}  // namespace dnn
