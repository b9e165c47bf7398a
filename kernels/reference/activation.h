#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <kernels/context.h>
#include <kernels/epilogue.h>

namespace dnn::reference {

// The functions of enum Activation; a NaN is kept.
template <class T>
T sigmoid(T x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

template <class T>
T clip(T x, T most) {
  if (x < 0) return 0;
  return x > most ? most : x;
}

template <class T>
T normal_cdf(T x) {
  return T(0.5) * std::erfc(-x * T(0.70710678118654752));
}

template <class T>
T activate(Activation activation, T x, T alpha = 0) {
  switch (activation) {
    case Activation::relu:
      return x < 0 ? T{0} : x;
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::relu6:
      return clip(x, T{6});
    case Activation::hardsigmoid:
      return clip(x + 3, T{6}) / 6;
    case Activation::hardswish:
      return x * (clip(x + 3, T{6}) / 6);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::gelu:
      return x * normal_cdf(x);
    case Activation::leaky_relu:
      return x < 0 ? alpha * x : x;
    case Activation::elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Activation::softplus:
      return (alpha > 0 ? std::max(x, T{0}) : std::min(x, T{0})) + std::log1p(std::exp(-std::abs(alpha * x))) / alpha;
    case Activation::none:
      break;
  }
  return x;
}

// The derivative, from saved = the result where slope_from_output(activation, alpha), else from saved = the input.
template <class T>
T activation_slope(Activation activation, T saved, T alpha = 0) {
  switch (activation) {
    case Activation::relu:
      return saved <= 0 ? T{0} : T{1};  // 1 at a NaN, as torch
    case Activation::sigmoid:
      return saved * (1 - saved);
    case Activation::tanh:
      return 1 - saved * saved;
    case Activation::relu6:
      return saved <= 0 || saved >= 6 ? T{0} : T{1};
    case Activation::hardsigmoid:
      return saved > 0 && saved < 1 ? T{1} / 6 : T{0};
    case Activation::hardswish:
      if (saved <= -3) return 0;
      return saved >= 3 ? T{1} : (2 * saved + 3) / 6;
    case Activation::silu:
      return sigmoid(saved) * (1 + saved * (1 - sigmoid(saved)));
    case Activation::gelu:
      return normal_cdf(saved) + saved * std::exp(-saved * saved / 2) * T(0.39894228040143268);
    case Activation::leaky_relu:
      return saved > 0 ? T{1} : alpha;
    case Activation::elu:
      if (saved > 0) return 1;
      return alpha >= 0 ? saved + alpha : alpha * std::exp(saved);
    case Activation::softplus:
      return sigmoid(alpha * saved);
    case Activation::none:
      break;
  }
  return 1;
}

template <class T>
void activation_forward(Context&, Activation activation, double alpha, int64_t count, const T* x, T* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = activate(activation, x[i], static_cast<T>(alpha));
}

template <class T>
void activation_backward(Context&, Activation activation, double alpha, int64_t count, const T* y_or_x, const T* dy,
                         T* dx) {
  for (int64_t i = 0; i < count; ++i) dx[i] = dy[i] * activation_slope(activation, y_or_x[i], static_cast<T>(alpha));
}

}  // namespace dnn::reference
