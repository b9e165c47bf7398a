#pragma once
#include <kernels/epilogue.h>
#include <libdnn/core/tensor.h>

namespace dnn {

// y = activation(x w^T + bias + residual): x (..., in), w (out, in), bias (out) or undefined, y (..., out) as the
// residual, which may be undefined.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias, Activation activation = Activation::none,
              const Tensor& residual = Tensor());

// The product that such a call is, of all rows of x; Error where the operands don't fit each other.
GemmShape linear_shape(const Tensor& x, const Shape& w, const Tensor& bias);

// y's shape.
Shape linear_result(const Tensor& x, const Shape& w);

}  // namespace dnn
