#pragma once
#include <cmath>
#include <cstdint>

#include <kernels/context.h>
#include <kernels/epilogue.h>

namespace dnn::reference {

// relu(x) = max(x, 0), NaN kept; sigmoid(x) = 1 / (1 + exp(-x)); tanh.
template <class T>
T activate(Activation activation, T x) {
  switch (activation) {
    case Activation::relu:
      return x < 0 ? T{0} : x;
    case Activation::sigmoid:
      return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::none:
      break;
  }
  return x;
}

// The derivative at x, from y = activate(x).
template <class T>
T activation_slope(Activation activation, T y) {
  switch (activation) {
    case Activation::relu:
      return y > 0 ? T{1} : T{0};
    case Activation::sigmoid:
      return y * (1 - y);
    case Activation::tanh:
      return 1 - y * y;
    case Activation::none:
      break;
  }
  return 1;
}

template <class T>
void activation_forward(Context&, Activation activation, int64_t count, const T* x, T* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = activate(activation, x[i]);
}

template <class T>
void activation_backward(Context&, Activation activation, int64_t count, const T* y, const T* dy, T* dx) {
  for (int64_t i = 0; i < count; ++i) dx[i] = dy[i] * activation_slope(activation, y[i]);
}

}  // namespace dnn::reference
