#include <libdnn/ops/activation.h>

#include <libdnn/ops/check.h>
#include <libdnn/ops/unary.h>

namespace dnn {

Tensor activate(const Tensor& x, const Activation& activation) {
  return activation == Activation::none ? x : unary("activate", activation, x);
}

Tensor relu(const Tensor& x) { return unary("relu", Activation::relu, x); }
Tensor sigmoid(const Tensor& x) { return unary("sigmoid", Activation::sigmoid, x); }
Tensor tanh(const Tensor& x) { return unary("tanh", Activation::tanh, x); }
Tensor relu6(const Tensor& x) { return unary("relu6", Activation::relu6, x); }
Tensor hardsigmoid(const Tensor& x) { return unary("hardsigmoid", Activation::hardsigmoid, x); }
Tensor hardswish(const Tensor& x) { return unary("hardswish", Activation::hardswish, x); }
Tensor mish(const Tensor& x) { return unary("mish", Activation::mish, x); }

Tensor silu(const Tensor& x, double beta) {
  check_finite("silu", "beta", beta);
  return unary("silu", beta == 1 ? Activation::silu : Activation::swish(beta), x);
}

Tensor gelu(const Tensor& x, GeluApproximate approximate) {
  return unary("gelu", approximate == GeluApproximate::tanh ? Activation::gelu_tanh : Activation::gelu, x);
}

Tensor leaky_relu(const Tensor& x, double negative_slope) {
  check_alpha(UnaryOp::leaky_relu, negative_slope);
  return unary("leaky_relu", Activation::leaky_relu(negative_slope), x);
}

Tensor elu(const Tensor& x, double alpha) {
  check_alpha(UnaryOp::elu, alpha);
  return unary("elu", Activation::elu(alpha), x);
}

Tensor softplus(const Tensor& x, double beta) {
  check_alpha(UnaryOp::softplus, beta);
  return unary("softplus", Activation::softplus(beta), x);
}

Tensor logsigmoid(const Tensor& x) { return unary("logsigmoid", Activation::softplus(-1), x); }

Tensor hardtanh(const Tensor& x, double min, double max) {
  check_hardtanh(min, max);
  return unary("hardtanh", Activation::hardtanh(min, max), x);
}

}  // namespace dnn
