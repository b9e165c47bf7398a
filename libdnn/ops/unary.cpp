#include <libdnn/ops/unary.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

Tensor slope_times(const char* name, const UnaryParams& f, const Tensor& saved, const Tensor& dy) {
  const Tensor dx = over_or_new(dy);
  run_kernel(name, {&dy, &saved}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.unary_backward(context, f, dy.numel(), data_or_null<T>(saved), dy.data<T>(), dx.data<T>());
  });
  return dx;
}

}  // namespace

Tensor unary(const char* name, const UnaryParams& f, const Tensor& x) {
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel(name, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.unary_forward(context, f, x.numel(), x.data<T>(), y.data<T>());
  });
  if (!wants_grad(x)) return y;
  if (f.op == UnaryOp::affine && f.a == 1) {
    record(name, {x}, {y}, [](const TensorList& dy) -> TensorList { return {dy[0]}; });
    return y;
  }
  Tensor saved;
  if (!constant_slope(f.op)) saved = slope_from_output(f) ? y.detach() : x;
  record(name, {x}, {y},
         [name, f, saved](const TensorList& dy) -> TensorList { return {slope_times(name, f, saved, dy[0])}; });
  return y;
}

}  // namespace dnn
