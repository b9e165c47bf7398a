#include <libdnn/ops/power.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {

Tensor power(const Tensor& x, double power, double scale, double shift) {
  const PowerParams params{power, scale, shift};
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("power", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.power_forward(context, params, x.numel(), x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record("power", {x}, {y}, [params, x](const TensorList& dy) -> TensorList {
    const Tensor dx = over_or_new(dy[0]);
    run_kernel("power", {&x, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.power_backward(context, params, x.numel(), x.data<T>(), dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace dnn
