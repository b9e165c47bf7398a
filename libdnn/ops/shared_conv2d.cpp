#include <libdnn/ops/shared_conv2d.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/epilogue.h>

namespace dnn {
namespace {

Conv2dShape checked_shape(const Tensor& x, const Tensor& w, const Conv2dOptions& options) {
  Conv2dShape shape = conv2d_shape("shared_conv2d", x.shape(), w.shape(), options);
  if (options.groups != 1) {
    throw Error(fmt::format("[shared_conv2d] every channel is its own group; got groups {}", options.groups));
  }
  if (w.size(0) != 1 || w.size(3) != 1) {
    throw Error(fmt::format("[shared_conv2d] w must be (1, R, S, 1); got {}", w.shape().str()));
  }
  shape.k = shape.groups = shape.c;
  shape.check("shared_conv2d");
  return shape;
}

}  // namespace

Tensor shared_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv2dOptions& options) {
  const Conv2dShape shape = checked_shape(x, w, options);
  const Activation activation = options.activation;
  if (!can_fuse("shared_conv2d", activation, wants_grad({x, w, bias}))) {
    Conv2dOptions plain = options;
    plain.activation = Activation::none;
    return activate(shared_conv2d(x, w, bias, plain), activation);
  }
  if (bias.defined()) check_shape("shared_conv2d", "bias", bias, {1});
  Tensor y({shape.n, shape.oh(), shape.ow(), shape.c}, x.dtype(), x.device());
  run_kernel("shared_conv2d", {&x, &w, &bias}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.shared_conv2d_forward(context, shape, x.data<T>(), w.data<T>(), data_or_null<T>(bias), activation, y.data<T>());
  });

  if (!wants_grad({x, w, bias})) return y;
  const bool want_dx = wants_grad(x), want_dbias = wants_grad(bias);
  const bool want_dw = wants_grad(w) || want_dbias;  // one kernel gives both
  record("shared_conv2d", {x, w, bias}, {y},
         [=, x = want_dw ? x : Tensor(), w = want_dx ? w : Tensor(),
          y = activation != Activation::none ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
           const Tensor dz = epilogue_backward("shared_conv2d", activation, y, dy[0], false).dz;
           Tensor dx, dw, dbias;
           if (want_dx) dx = Tensor({shape.n, shape.h, shape.w, shape.c}, dz.dtype(), dz.device());
           if (want_dw) dw = Tensor({1, shape.r, shape.s, 1}, dz.dtype(), dz.device());
           if (want_dbias) dbias = Tensor({1}, dz.dtype(), dz.device());
           run_kernel("shared_conv2d", {&dz, &x, &w}, [&]<class T>(const Kernels<T>& k, Context& context) {
             if (want_dx) k.shared_conv2d_backward_input(context, shape, dz.data<T>(), w.data<T>(), dx.data<T>());
             if (want_dw) {
               k.shared_conv2d_backward_weight(context, shape, x.data<T>(), dz.data<T>(), dw.data<T>(),
                                               data_or_null<T>(dbias));
             }
           });
           return {dx, dw, dbias};
         });
  return y;
}

}  // namespace dnn
