#include <libdnn/ops/softmax.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

// forward(kernels) and backward(kernels) name the two kernels; both gradients need y alone.
template <class Forward, class Backward>
Tensor along_dim(const char* op, const Tensor& x, int dim, Forward forward, Backward backward) {
  const AxisShape shape = axis_with_values(op, x, dim);
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel(op, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    forward(k)(context, shape, x.data<T>(), y.data<T>());
  });
  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, shape, backward, y = y.detach()](const TensorList& dy) -> TensorList {
    const Tensor dx(y.shape(), y.dtype(), y.device());
    run_kernel(op, {&y, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      backward(k)(context, shape, y.data<T>(), dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace

Tensor softmax(const Tensor& x, int dim) {
  return along_dim(
      "softmax", x, dim, [](const auto& k) { return k.softmax_forward; },
      [](const auto& k) { return k.softmax_backward; });
}

Tensor log_softmax(const Tensor& x, int dim) {
  return along_dim(
      "log_softmax", x, dim, [](const auto& k) { return k.log_softmax_forward; },
      [](const auto& k) { return k.log_softmax_backward; });
}

}  // namespace dnn
