#pragma once
#include <libdnn/ops/conv2d.h>

namespace dnn {

// A depthwise convolution whose one filter and one bias serve all channels: the "subsample" layer of LeNet-5's kind.
// x (N, H, W, C), w (1, R, S, 1), bias (1) or undefined, y (N, OH, OW, C); options.groups stays 1.
Tensor shared_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv2dOptions& options = {});

}  // namespace dnn
