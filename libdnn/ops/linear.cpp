#include <libdnn/ops/linear.h>

#include <fmt/format.h>

#include <limits>
#include <vector>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/epilogue.h>

namespace dnn {

GemmShape linear_shape(const Tensor& x, const Shape& w, const Tensor& bias) {
  check_dims("linear", "w", w, 2);
  if (x.dims() == 0 || w[1] != x.size(-1)) {
    throw Error(fmt::format("[linear] w (out, in) must fit x (..., in); got w {} for x {}", w.str(), x.shape().str()));
  }
  if (bias.defined()) check_shape("linear", "bias", bias, {w[0]});
  int64_t rows = 1;
  for (int i = 0; i + 1 < x.dims(); ++i) rows *= x.size(i);
  if (rows > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("[linear] too many rows; got x {}", x.shape().str()));
  }
  return {.m = static_cast<int>(rows), .n = w[0], .k = w[1], .trans_b = true};
}

Shape linear_result(const Tensor& x, const Shape& w) {
  std::vector<int> sizes(x.shape().begin(), x.shape().end());
  sizes.back() = w[0];
  return Shape(sizes);
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias, Activation activation, const Tensor& residual) {
  if (!can_fuse("linear", activation, wants_grad({x, w, bias, residual}))) {
    return activate(linear(x, w, bias, Activation::none, residual), activation);
  }
  const GemmShape shape = linear_shape(x, w.shape(), bias);
  Tensor y(linear_result(x, w.shape()), x.dtype(), x.device());
  if (residual.defined()) check_shape("linear", "residual", residual, y.shape());
  run_kernel("linear", {&x, &w, &bias, &residual}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.gemm(context, shape, x.data<T>(), w.data<T>(),
           {.bias = data_or_null<T>(bias), .residual = data_or_null<T>(residual), .activation = activation},
           y.data<T>());
  });

  if (!wants_grad({x, w, bias, residual})) return y;
  const bool want_dx = wants_grad(x), want_dw = wants_grad(w), want_dbias = wants_grad(bias);
  const int rows = shape.m, in = shape.k, out = shape.n;
  record("linear", {x, w, bias, residual}, {y},
         [=, x_shape = x.shape(), x = want_dw ? x : Tensor(), w = want_dx ? w : Tensor(),
          y = activation != Activation::none ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
           const EpilogueGrads grads = epilogue_backward("linear", activation, y, dy[0], want_dbias);
           const Tensor& dz = grads.dz;
           Tensor dx, dw;
           if (want_dx) dx = Tensor(x_shape, dz.dtype(), dz.device());
           if (want_dw) dw = Tensor({out, in}, dz.dtype(), dz.device());
           run_kernel("linear", {&dz, &x, &w}, [&]<class T>(const Kernels<T>& k, Context& context) {
             if (want_dx) {
               k.gemm(context, {.m = rows, .n = in, .k = out}, dz.data<T>(), w.data<T>(), {}, dx.data<T>());
             }
             if (want_dw) {
               k.gemm(context, {.m = out, .n = in, .k = rows, .trans_a = true}, dz.data<T>(), x.data<T>(), {},
                      dw.data<T>());
             }
           });
           return {dx, dw, grads.dbias, dz};
         });
  return y;
}

}  // namespace dnn
