#include <libdnn/ops/linear.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/epilogue.h>

namespace dnn {

GemmShape linear_shape(const Tensor& x, const Shape& w, const Tensor& bias) {
  check_dims("linear", "x", x, 2);
  check_dims("linear", "w", w, 2);
  if (w[1] != x.size(1)) {
    throw Error(fmt::format("[linear] w (out, in) must fit x (N, in); got w {} for x {}", w.str(), x.shape().str()));
  }
  if (bias.defined()) check_shape("linear", "bias", bias, {w[0]});
  return {.m = x.size(0), .n = w[0], .k = w[1], .trans_b = true};
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias, Activation activation) {
  if (!can_fuse("linear", activation, wants_grad({x, w, bias}))) return activate(linear(x, w, bias), activation);
  const GemmShape shape = linear_shape(x, w.shape(), bias);
  const int n = shape.m, in = shape.k, out = shape.n;
  Tensor y({n, out}, x.dtype(), x.device());
  run_kernel("linear", {&x, &w, &bias}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.gemm(context, shape, x.data<T>(), w.data<T>(), {.bias = data_or_null<T>(bias), .activation = activation},
           y.data<T>());
  });

  if (!wants_grad({x, w, bias})) return y;
  const bool want_dx = wants_grad(x), want_dw = wants_grad(w), want_dbias = wants_grad(bias);
  record("linear", {x, w, bias}, {y},
         [=, x = want_dw ? x : Tensor(), w = want_dx ? w : Tensor(),
          y = activation != Activation::none ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
           const EpilogueGrads grads = epilogue_backward("linear", activation, y, dy[0], want_dbias);
           const Tensor& dz = grads.dz;
           Tensor dx, dw;
           if (want_dx) dx = Tensor({n, in}, dz.dtype(), dz.device());
           if (want_dw) dw = Tensor({out, in}, dz.dtype(), dz.device());
           run_kernel("linear", {&dz, &x, &w}, [&]<class T>(const Kernels<T>& k, Context& context) {
             if (want_dx) {
               k.gemm(context, {.m = n, .n = in, .k = out}, dz.data<T>(), w.data<T>(), {}, dx.data<T>());
             }
             if (want_dw) {
               k.gemm(context, {.m = out, .n = in, .k = n, .trans_a = true}, dz.data<T>(), x.data<T>(), {},
                      dw.data<T>());
             }
           });
           return {dx, dw, grads.dbias};
         });
  return y;
}

}  // namespace dnn
