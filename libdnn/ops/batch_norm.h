#pragma once
#include <kernels/epilogue.h>
#include <libdnn/core/tensor.h>

namespace dnn {

struct BatchNormOptions {
  bool training = true;
  double momentum = 0.1;
  double eps = 1e-5;
  Activation activation = Activation::none;
};

// y = activation((x - mean) / sqrt(var + eps) * weight + bias + residual), statistics for each channel, the last
// dimension of x. In training they are those of x, and the running ones become (1 - momentum) * running + momentum *
// x's, the variance unbiased; else they are the running ones. An empty batch leaves these alone. All operands but x may
// be undefined, the running ones in training only.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& options = {}, const Tensor& residual = Tensor());

}  // namespace dnn
