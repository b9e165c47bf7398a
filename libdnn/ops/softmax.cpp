#include <libdnn/ops/softmax.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

Tensor softmax(const Tensor& x) {
  const RowsShape shape = last_dim_rows("softmax", x);
  const Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("softmax", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.softmax_forward(context, shape, x.data<T>(), y.data<T>());
  });
  if (!wants_grad(x)) return y;
  record("softmax", {x}, {y}, [shape, y = y.detach()](const TensorList& dy) -> TensorList {
    const Tensor dx(y.shape(), y.dtype(), y.device());
    run_kernel("softmax", {&y, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.softmax_backward(context, shape, y.data<T>(), dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

Tensor log_softmax(const Tensor& x) {
  const RowsShape shape = last_dim_rows("log_softmax", x);
  const Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("log_softmax", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.log_softmax_forward(context, shape, x.data<T>(), y.data<T>());
  });
  if (!wants_grad(x)) return y;
  record("log_softmax", {x}, {y}, [shape, y = y.detach()](const TensorList& dy) -> TensorList {
    const Tensor dx(y.shape(), y.dtype(), y.device());
    run_kernel("log_softmax", {&y, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.log_softmax_backward(context, shape, y.data<T>(), dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace dnn
