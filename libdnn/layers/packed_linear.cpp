#include <libdnn/layers/packed_linear.h>

namespace dnn {

PackedLinear::PackedLinear(const Linear& linear)
    : options_(linear.options()),
      weight_(pack_linear_weight(linear.parameter("weight"))),
      bias_(linear.parameter_or_none("bias")) {
  if (bias_.defined()) bias_ = bias_.detach().clone();
}

Tensor PackedLinear::forward_fused(const Tensor& x, Activation activation, const Tensor& residual) {
  return linear(x, weight_, bias_, activation, residual);
}

}  // namespace dnn
