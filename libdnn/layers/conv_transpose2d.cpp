#include <libdnn/layers/conv_transpose2d.h>

#include <libdnn/layers/init.h>
#include <libdnn/ops/check.h>

namespace dnn {

ConvTranspose2d::ConvTranspose2d(const Options& o) : options_(o) {
  check_channels("conv_transpose2d", o.in_channels, o.out_channels, o.groups);
  check_at_least("conv_transpose2d", "kernel_size", o.kernel_size, 1);
  check_padding("conv_transpose2d", o.padding);
  check_output_padding("conv_transpose2d", o.output_padding, o.stride, o.dilation);
  check_activation("conv_transpose2d", o.activation);
  // torch takes the second dimension of its weight, (in, out / groups, R, S), for the channels of the input.
  const int k = o.out_channels / o.groups;
  const int64_t fan_in = int64_t{k} * o.kernel_size.h * o.kernel_size.w;
  add_parameter("weight", default_init({o.in_channels, o.kernel_size.h, o.kernel_size.w, k}, fan_in));
  if (o.bias) add_parameter("bias", default_init({o.out_channels}, fan_in));
}

Tensor ConvTranspose2d::forward(const Tensor& x) {
  return conv_transpose2d(x, parameter("weight"), parameter_or_none("bias"),
                          {.stride = options_.stride,
                           .padding = options_.padding,
                           .output_padding = options_.output_padding,
                           .dilation = options_.dilation,
                           .groups = options_.groups,
                           .activation = options_.activation});
}

}  // namespace dnn
