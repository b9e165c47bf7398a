#include <libdnn/layers/shared_conv2d.h>

#include <libdnn/layers/init.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/shared_conv2d.h>

namespace dnn {

SharedConv2d::SharedConv2d(const Options& o) : options_(o) {
  check_at_least("shared_conv2d", "kernel_size", o.kernel_size, 1);
  check_at_least("shared_conv2d", "stride", o.stride, 1);
  check_at_least("shared_conv2d", "dilation", o.dilation, 1);
  check_padding("shared_conv2d", o.padding);
  check_activation("shared_conv2d", o.activation);
  const int64_t fan_in = int64_t{o.kernel_size.h} * o.kernel_size.w;
  add_parameter("weight", default_init({1, o.kernel_size.h, o.kernel_size.w, 1}, fan_in));
  if (o.bias) add_parameter("bias", default_init({1}, fan_in));
}

Tensor SharedConv2d::forward(const Tensor& x) {
  return shared_conv2d(x, parameter("weight"), parameter_or_none("bias"),
                       {.stride = options_.stride,
                        .padding = options_.padding,
                        .dilation = options_.dilation,
                        .activation = options_.activation});
}

}  // namespace dnn
