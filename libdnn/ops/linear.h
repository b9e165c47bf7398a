#pragma once
#include <kernels/epilogue.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// y = activation(x w^T + bias): x (N, in), w (out, in), bias (out) or undefined, y (N, out).
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias, Activation activation = Activation::none);

// The product that such a call is; Error where the operands don't fit each other.
GemmShape linear_shape(const Tensor& x, const Shape& w, const Tensor& bias);

}  // namespace dnn
