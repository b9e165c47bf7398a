#include <libdnn/ops/prelu.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

Tensor prelu(const Tensor& x, const Tensor& slope) {
  RowsShape shape = last_dim_rows("prelu", x);
  check_dims("prelu", "slope", slope, 1);
  if (slope.size(0) == 1) {
    shape = {x.numel(), 1};
  } else if (slope.size(0) != shape.cols) {
    throw Error(fmt::format("[prelu] slope must be (1) or ({}); got {}", shape.cols, slope.shape().str()));
  }
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("prelu", {&x, &slope}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.prelu_forward(context, shape, x.data<T>(), slope.data<T>(), y.data<T>());
  });

  if (!wants_grad({x, slope})) return y;
  const bool want_dx = wants_grad(x), want_dslope = wants_grad(slope);
  record("prelu", {x, slope}, {y}, [=](const TensorList& dy) -> TensorList {
    Tensor dx, dslope;
    if (want_dx) dx = Tensor(x.shape(), x.dtype(), x.device());
    if (want_dslope) dslope = Tensor(slope.shape(), x.dtype(), x.device());
    run_kernel("prelu", {&x, &slope, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.prelu_backward(context, shape, x.data<T>(), slope.data<T>(), dy[0].data<T>(), data_or_null<T>(dx),
                       data_or_null<T>(dslope));
    });
    return {dx, dslope};
  });
  return y;
}

}  // namespace dnn
