#include <libdnn/layers/linear.h>

#include <fmt/format.h>

#include <libdnn/layers/init.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/linear.h>

namespace dnn {

Linear::Linear(const Options& o) : options_(o) {
  if (o.in_features < 1 || o.out_features < 1) {
    throw Error(fmt::format("[linear] features are at least 1; got {} in, {} out", o.in_features, o.out_features));
  }
  check_activation("linear", o.activation);
  add_parameter("weight", default_init({o.out_features, o.in_features}, o.in_features));
  if (o.bias) add_parameter("bias", default_init({o.out_features}, o.in_features));
}

Linear::Linear(int in_features, int out_features, Activation activation)
    : Linear({.in_features = in_features, .out_features = out_features, .activation = activation}) {}

Tensor Linear::forward_fused(const Tensor& x, Activation activation, const Tensor& residual) {
  return linear(x, parameter("weight"), parameter_or_none("bias"), activation, residual);
}

}  // namespace dnn
