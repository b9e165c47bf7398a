#pragma once
#include <array>

#include <kernels/epilogue.h>
#include <libdnn/core/tensor.h>

namespace dnn {

struct Conv2dOptions {
  std::array<int, 2> stride{1, 1};         // height, width
  std::array<int, 4> padding{0, 0, 0, 0};  // top, left, bottom, right
  std::array<int, 2> dilation{1, 1};
  int groups = 1;
  Activation activation = Activation::none;
};

// y = activation(convolution of x with w + bias + residual), in one pass. x (N, H, W, C), w (K, R, S, C / groups), y
// and residual (N, OH, OW, K), bias (K); bias and residual may be undefined. The convolution is a correlation, as
// everywhere in deep learning, and cells outside the picture count as 0. On the CPU, 3x3 convolutions of many channels
// are computed by Winograd's method, whose error is up to twice that of the plain sum, and in which a NaN or an
// infinity reaches outputs up to three pixels beyond its windows; the environment's DNN_CONV=direct leaves it out.
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const Conv2dOptions& options = {},
              const Tensor& residual = Tensor());

// The kernels' shape of such a call, not yet checked but for the dimensions of x and w.
Conv2dShape conv2d_shape(const char* op, const Shape& x, const Shape& w, const Conv2dOptions& options);
// Checked.
Conv2dShape conv2d_shape(const Shape& x, const Shape& w, const Conv2dOptions& options);

}  // namespace dnn
