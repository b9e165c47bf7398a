#include <libdnn/ops/activation.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/epilogue.h>

namespace dnn {
namespace {

Tensor activation(const char* name, Activation kind, const Tensor& x, double alpha = 0) {
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel(name, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.activation_forward(context, kind, alpha, x.numel(), x.data<T>(), y.data<T>());
  });
  if (!wants_grad({x})) return y;
  const Tensor saved = slope_from_output(kind, alpha) ? y.detach() : x;
  record(name, {x}, {y}, [name, kind, alpha, saved](const TensorList& dy) -> TensorList {
    const Tensor dx = over_or_new(dy[0]);
    run_kernel(name, {&saved, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.activation_backward(context, kind, alpha, saved.numel(), saved.data<T>(), dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace

Tensor activate(const Tensor& x, Activation activation_kind) {
  can_fuse("activate", activation_kind, false);
  return activation_kind == Activation::none ? x : activation("activate", activation_kind, x);
}

Tensor relu(const Tensor& x) { return activation("relu", Activation::relu, x); }
Tensor sigmoid(const Tensor& x) { return activation("sigmoid", Activation::sigmoid, x); }
Tensor tanh(const Tensor& x) { return activation("tanh", Activation::tanh, x); }
Tensor relu6(const Tensor& x) { return activation("relu6", Activation::relu6, x); }
Tensor hardsigmoid(const Tensor& x) { return activation("hardsigmoid", Activation::hardsigmoid, x); }
Tensor hardswish(const Tensor& x) { return activation("hardswish", Activation::hardswish, x); }
Tensor silu(const Tensor& x) { return activation("silu", Activation::silu, x); }
Tensor gelu(const Tensor& x) { return activation("gelu", Activation::gelu, x); }

Tensor leaky_relu(const Tensor& x, double negative_slope) {
  check_alpha(Activation::leaky_relu, negative_slope);
  return activation("leaky_relu", Activation::leaky_relu, x, negative_slope);
}

Tensor elu(const Tensor& x, double alpha) {
  check_alpha(Activation::elu, alpha);
  return activation("elu", Activation::elu, x, alpha);
}

Tensor softplus(const Tensor& x, double beta) {
  check_alpha(Activation::softplus, beta);
  return activation("softplus", Activation::softplus, x, beta);
}

}  // namespace dnn
