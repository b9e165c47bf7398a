#include <libdnn/ops/conv2d.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/counted.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/epilogue.h>

namespace dnn {

Conv2dShape conv2d_shape(const char* op, const Shape& x, const Shape& w, const Conv2dOptions& options) {
  check_dims(op, "x", x, 4);
  check_dims(op, "w", w, 4);
  Conv2dShape shape;
  shape.n = x[0], shape.h = x[1], shape.w = x[2], shape.c = x[3];
  shape.k = w[0], shape.r = w[1], shape.s = w[2];
  shape.stride_h = options.stride[0], shape.stride_w = options.stride[1];
  shape.pad_top = options.padding[0], shape.pad_left = options.padding[1];
  shape.pad_bottom = options.padding[2], shape.pad_right = options.padding[3];
  shape.dilation_h = options.dilation[0], shape.dilation_w = options.dilation[1];
  shape.groups = options.groups;
  return shape;
}

Conv2dShape conv2d_shape(const Shape& x, const Shape& w, const Conv2dOptions& options) {
  const Conv2dShape shape = conv2d_shape("conv2d", x, w, options);
  const int64_t channels = int64_t{w[3]} * std::max(shape.groups, 1);
  const std::string hint =
      channels <= std::numeric_limits<int>::max() ? layout_hint(x, static_cast<int>(channels)) : "";
  if (hint.empty()) shape.check("conv2d");
  if (channels != shape.c) {
    throw Error(fmt::format("[conv2d] w (K, R, S, C / groups) must fit x (N, H, W, C); got w {} for x {} in {}{}",
                            w.str(), x.str(), counted(shape.groups, "group"), hint));
  }
  return shape;
}

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv2dOptions& options,
              const Tensor& residual) {
  const Conv2dShape shape = conv2d_shape(x.shape(), w.shape(), options);
  const Activation activation = options.activation;
  if (!can_fuse("conv2d", activation, wants_grad({x, w, bias, residual}))) {
    Conv2dOptions plain = options;
    plain.activation = Activation::none;
    return activate(conv2d(x, w, bias, plain, residual), activation);
  }
  Tensor y({shape.n, shape.oh(), shape.ow(), shape.k}, x.dtype(), x.device());
  if (bias.defined()) check_shape("conv2d", "bias", bias, {shape.k});
  if (residual.defined()) check_shape("conv2d", "residual", residual, y.shape());
  run_kernel("conv2d", {&x, &w, &bias, &residual}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.conv2d_forward(context, shape, x.data<T>(), w.data<T>(),
                     {data_or_null<T>(bias), data_or_null<T>(residual), activation}, y.data<T>());
  });

  if (!wants_grad({x, w, bias, residual})) return y;
  const bool want_dx = wants_grad(x), want_dw = wants_grad(w), want_dbias = wants_grad(bias);
  record("conv2d", {x, w, bias, residual}, {y},
         [=, x = want_dw ? x : Tensor(), w = want_dx ? w : Tensor(),
          y = activation != Activation::none ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
           const EpilogueGrads grads = epilogue_backward("conv2d", activation, y, dy[0], want_dbias);
           const Tensor& dz = grads.dz;
           Tensor dx, dw;
           if (want_dx) dx = Tensor({shape.n, shape.h, shape.w, shape.c}, dz.dtype(), dz.device());
           if (want_dw) dw = Tensor({shape.k, shape.r, shape.s, shape.c / shape.groups}, dz.dtype(), dz.device());
           run_kernel("conv2d", {&dz, &x, &w}, [&]<class T>(const Kernels<T>& k, Context& context) {
             if (want_dx) k.conv2d_backward_input(context, shape, dz.data<T>(), w.data<T>(), dx.data<T>());
             if (want_dw) k.conv2d_backward_weight(context, shape, x.data<T>(), dz.data<T>(), dw.data<T>());
           });
           return {dx, dw, grads.dbias, dz};
         });
  return y;
}

}  // namespace dnn
