#include <libdnn/ops/lrn.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

Tensor local_response_norm(const Tensor& x, int size, double alpha, double beta, double k) {
  const RowsShape rows = last_dim_rows("local_response_norm", x);
  const LrnShape shape{rows.rows, rows.cols, size, alpha, beta, k};
  shape.check("local_response_norm");
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("local_response_norm", {&x}, [&]<class T>(const Kernels<T>& kernels, Context& context) {
    kernels.lrn_forward(context, shape, x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record("local_response_norm", {x}, {y}, [shape, x](const TensorList& dy) -> TensorList {
    const Tensor dx(x.shape(), x.dtype(), x.device());
    run_kernel("local_response_norm", {&x, &dy[0]}, [&]<class T>(const Kernels<T>& kernels, Context& context) {
      // The kernels compute y again: it need not be kept for the way back.
      kernels.lrn_backward(context, shape, x.data<T>(), dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace dnn
