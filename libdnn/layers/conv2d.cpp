#include <libdnn/layers/conv2d.h>

#include <libdnn/layers/init.h>
#include <libdnn/ops/check.h>

namespace dnn {

Conv2d::Conv2d(const Options& o) : options_(o) {
  check_channels("conv2d", o.in_channels, o.out_channels, o.groups);
  check_at_least("conv2d", "kernel_size", o.kernel_size, 1);
  check_at_least("conv2d", "stride", o.stride, 1);
  check_at_least("conv2d", "dilation", o.dilation, 1);
  check_padding("conv2d", o.padding);
  check_activation("conv2d", o.activation);
  const int c = o.in_channels / o.groups;
  const int64_t fan_in = int64_t{c} * o.kernel_size.h * o.kernel_size.w;
  add_parameter("weight", default_init({o.out_channels, o.kernel_size.h, o.kernel_size.w, c}, fan_in));
  if (o.bias) add_parameter("bias", default_init({o.out_channels}, fan_in));
}

Conv2d::Conv2d(int in_channels, int out_channels, Size2 kernel_size, Activation activation)
    : Conv2d({.in_channels = in_channels,
              .out_channels = out_channels,
              .kernel_size = kernel_size,
              .activation = activation}) {}

Tensor Conv2d::forward_fused(const Tensor& x, Activation activation, const Tensor& residual) {
  return conv2d(x, parameter("weight"), parameter_or_none("bias"), options_.with(activation), residual);
}

}  // namespace dnn
