#pragma once
#include <kernels/unary.h>
#include <libdnn/core/tensor.h>

namespace dnn {

enum class GeluApproximate { none, tanh };

// Element by element; y has x's shape. Slopes, alphas and betas may be negative, as torch's.
Tensor activate(const Tensor& x, const Activation& activation);
Tensor relu(const Tensor& x);     // max(x, 0)
Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))
Tensor tanh(const Tensor& x);
Tensor relu6(const Tensor& x);                  // min(max(x, 0), 6)
Tensor hardsigmoid(const Tensor& x);            // relu6(x + 3) / 6
Tensor hardswish(const Tensor& x);              // x * hardsigmoid(x)
Tensor silu(const Tensor& x, double beta = 1);  // x * sigmoid(beta * x)
Tensor mish(const Tensor& x);                   // x * tanh(log(1 + exp(x)))
// x * (1 + erf(x / sqrt(2))) / 2, or x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
Tensor gelu(const Tensor& x, GeluApproximate approximate = GeluApproximate::none);
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);   // x > 0 ? x : negative_slope * x
Tensor elu(const Tensor& x, double alpha = 1);                      // x > 0 ? x : alpha * (exp(x) - 1)
Tensor softplus(const Tensor& x, double beta = 1);                  // log(1 + exp(beta * x)) / beta
Tensor logsigmoid(const Tensor& x);                                 // log(sigmoid(x))
Tensor hardtanh(const Tensor& x, double min = -1, double max = 1);  // min(max(x, min), max), slope 0 at the bounds

}  // namespace dnn
