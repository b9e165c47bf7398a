#include <libdnn/ops/scale_channels.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

Tensor scale_channels(const Tensor& x, const Tensor& scale) {
  check_dims("scale_channels", "x", x, 4);
  const ChannelScaleShape shape{x.size(0), int64_t{x.size(1)} * x.size(2), x.size(3)};
  if (scale.shape() != Shape{shape.n, shape.c} && scale.shape() != Shape{shape.n, 1, 1, shape.c}) {
    throw Error(fmt::format("[scale_channels] scale must be (N, C) or (N, 1, 1, C); got {} for x {}",
                            scale.shape().str(), x.shape().str()));
  }
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("scale_channels", {&x, &scale}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.scale_channels_forward(context, shape, x.data<T>(), scale.data<T>(), y.data<T>());
  });

  if (!wants_grad({x, scale})) return y;
  const bool want_dx = wants_grad(x), want_dscale = wants_grad(scale);
  record("scale_channels", {x, scale}, {y}, [=, x = want_dscale ? x : Tensor()](const TensorList& dy) -> TensorList {
    Tensor dx, dscale;
    if (want_dx) dx = Tensor(dy[0].shape(), dy[0].dtype(), dy[0].device());
    if (want_dscale) dscale = Tensor(scale.shape(), scale.dtype(), scale.device());
    run_kernel("scale_channels", {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.scale_channels_backward(context, shape, data_or_null<T>(x), scale.data<T>(), dy[0].data<T>(),
                                data_or_null<T>(dx), data_or_null<T>(dscale));
    });
    return {dx, dscale};
  });
  return y;
}

}  // namespace dnn
