#include <libdnn/layers/packed_conv2d.h>

namespace dnn {

PackedConv2d::PackedConv2d(const Conv2d& conv, const Shape& input)
    : options_(conv.options()),
      weight_(pack_conv2d_weight(conv.parameter("weight"), input, options_.with(Activation::none))),
      bias_(conv.parameter_or_none("bias")) {
  if (bias_.defined()) bias_ = bias_.detach().clone();
}

Tensor PackedConv2d::forward_fused(const Tensor& x, Activation activation, const Tensor& residual) {
  return conv2d(x, weight_, bias_, options_.with(activation), residual);
}

}  // namespace dnn
