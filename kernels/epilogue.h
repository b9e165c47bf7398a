#pragma once
#include <kernels/host_device.h>

namespace dnn {

// relu6 min(max(x, 0), 6); hardsigmoid relu6(x + 3) / 6; hardswish x * hardsigmoid(x); silu x * sigmoid(x); gelu
// x * (1 + erf(x / sqrt(2))) / 2; leaky_relu x > 0 ? x : alpha * x; elu x > 0 ? x : alpha * (exp(x) - 1); softplus
// log(1 + exp(alpha * x)) / alpha. Those with alpha, which may be negative, are kernels of their own, not part of an
// epilogue.
enum class Activation {
  none,
  relu,
  sigmoid,
  tanh,
  relu6,
  hardsigmoid,
  hardswish,
  silu,
  gelu,
  leaky_relu,
  elu,
  softplus
};

// Whether the slope follows from the result; of the others it needs the input, as it does of leaky_relu and elu with a
// negative alpha, whose results don't tell the sign of x.
DNN_HOST_DEVICE constexpr bool slope_from_output(Activation a, double alpha = 0) {
  if (a == Activation::leaky_relu || a == Activation::elu) return alpha >= 0;
  return a != Activation::hardswish && a != Activation::silu && a != Activation::gelu && a != Activation::softplus;
}

DNN_HOST_DEVICE constexpr bool has_alpha(Activation a) {
  return a == Activation::leaky_relu || a == Activation::elu || a == Activation::softplus;
}

// What a kernel does to a result before it is stored: y = activation(result + bias + residual).
template <class T>
struct Epilogue {
  const T* bias = nullptr;      // one value for each output channel (column)
  const T* residual = nullptr;  // laid out as y
  Activation activation = Activation::none;
};

}  // namespace dnn
