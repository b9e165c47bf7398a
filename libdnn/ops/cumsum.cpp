#include <libdnn/ops/cumsum.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/reduced_dims.h>

namespace dnn {
namespace {

Tensor running_sum(const AxisShape& shape, bool reverse, const Tensor& x) {
  const Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("cumsum", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.cumsum(context, shape, reverse, x.data<T>(), y.data<T>());
  });
  return y;
}

}  // namespace

Tensor cumsum(const Tensor& x, int dim) {
  const AxisShape shape = axis_shape("cumsum", x.shape(), dim);
  const Tensor y = running_sum(shape, false, x);
  record("cumsum", {x}, {y}, [shape](const TensorList& dy) -> TensorList { return {running_sum(shape, true, dy[0])}; });
  return y;
}

}  // namespace dnn
