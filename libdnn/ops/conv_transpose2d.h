#pragma once
#include <array>

#include <kernels/epilogue.h>
#include <libdnn/core/tensor.h>

namespace dnn {

struct ConvTranspose2dOptions {
  std::array<int, 2> stride{1, 1};          // height, width
  std::array<int, 4> padding{0, 0, 0, 0};   // top, left, bottom, right: taken away from the result
  std::array<int, 2> output_padding{0, 0};  // rows and columns more, below the stride or the dilation
  std::array<int, 2> dilation{1, 1};
  int groups = 1;
  Activation activation = Activation::none;
};

// y = activation(the adjoint of a convolution with w, of x, + bias): each pixel of x adds w times it to a window of y.
// x (N, H, W, C), w (C, R, S, K / groups), bias (K) or undefined, y (N, OH, OW, K) with
// OH = (H - 1) * stride - top - bottom + dilation * (R - 1) + output_padding + 1.
Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& bias,
                        const ConvTranspose2dOptions& options = {});

}  // namespace dnn
