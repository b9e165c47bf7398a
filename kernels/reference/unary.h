#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <kernels/context.h>
#include <kernels/unary.h>

namespace dnn::reference {

// The functions of enum UnaryOp; a NaN is kept.
template <class T>
T sigmoid(T x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// softplus with 1
template <class T>
T log1p_exp(T x) {
  return (x > 0 ? x : T{0}) + std::log1p(std::exp(-std::abs(x)));
}

// As torch: the bound above wins where it is the smaller.
template <class T>
T clip(T x, T least, T most) {
  if (x < least) x = least;
  return x > most ? most : x;
}

template <class T>
T normal_cdf(T x) {
  return T(0.5) * std::erfc(-x * T(0.70710678118654752));
}

// Twice the argument of gelu_tanh's tanh, of which (1 + tanh) / 2 is the sigmoid.
template <class T>
T gelu_tanh_argument(T x) {
  return T(1.5957691216057308) * (x + T(0.044715) * x * x * x);
}

// From a smaller number the derivative follows by continuity.
template <class T>
T gelu_tanh_slope(T x) {
  const T s = sigmoid(gelu_tanh_argument(x));
  if (s == 0 || s == 1) return s;
  return s + x * s * (1 - s) * T(1.5957691216057308) * (1 + T(0.134145) * x * x);
}

template <class T>
T unary(const UnaryParams& f, T x) {
  const T a = static_cast<T>(f.a), b = static_cast<T>(f.b);
  switch (f.op) {
    case UnaryOp::none:
      return x;
    case UnaryOp::relu:
      return x < 0 ? T{0} : x;
    case UnaryOp::sigmoid:
      return sigmoid(x);
    case UnaryOp::tanh:
      return std::tanh(x);
    case UnaryOp::relu6:
      return clip(x, T{0}, T{6});
    case UnaryOp::hardsigmoid:
      return clip(x + 3, T{0}, T{6}) / 6;
    case UnaryOp::hardswish:
      return x * (clip(x + 3, T{0}, T{6}) / 6);
    case UnaryOp::silu:
      return x * sigmoid(x);
    case UnaryOp::swish:
      return x * sigmoid(a * x);
    case UnaryOp::gelu:
      return x * normal_cdf(x);
    case UnaryOp::gelu_tanh:
      return x * sigmoid(gelu_tanh_argument(x));
    case UnaryOp::mish:
      return x * std::tanh(log1p_exp(x));
    case UnaryOp::leaky_relu:
      return x < 0 ? a * x : x;
    case UnaryOp::elu:
      return x < 0 ? a * std::expm1(x) : x;
    case UnaryOp::softplus:
      return (a > 0 ? std::max(x, T{0}) : std::min(x, T{0})) + std::log1p(std::exp(-std::abs(a * x))) / a;
    case UnaryOp::hardtanh:
    case UnaryOp::clamp:
      return clip(x, a, b);
    case UnaryOp::affine:
      return a * x + b;
    case UnaryOp::divide:
      return x / a;
    case UnaryOp::reciprocal:
      return a / x;
    case UnaryOp::pow:
      return static_cast<T>(std::pow(f.b * x + f.c, f.a));
    case UnaryOp::square:
      return x * x;
    case UnaryOp::abs:
      return std::abs(x);
    case UnaryOp::neg:
      return -x;
    case UnaryOp::sign:
      return static_cast<T>((x > 0) - (x < 0));
    case UnaryOp::floor:
      return std::floor(x);
    case UnaryOp::ceil:
      return std::ceil(x);
    case UnaryOp::round:
      return std::nearbyint(x);
    case UnaryOp::exp:
      return std::exp(x);
    case UnaryOp::expm1:
      return std::expm1(x);
    case UnaryOp::log:
      return std::log(x);
    case UnaryOp::log1p:
      return std::log1p(x);
    case UnaryOp::sqrt:
      return std::sqrt(x);
    case UnaryOp::rsqrt:
      return 1 / std::sqrt(x);
    case UnaryOp::sin:
      return std::sin(x);
    case UnaryOp::cos:
      return std::cos(x);
    case UnaryOp::erf:
      return std::erf(x);
  }
  return x;
}

// The derivative, from saved = the result where slope_from_output(f), else from saved = the input.
template <class T>
T unary_slope(const UnaryParams& f, T saved) {
  const T a = static_cast<T>(f.a), b = static_cast<T>(f.b);
  switch (f.op) {
    case UnaryOp::none:
      return 1;
    case UnaryOp::relu:
      return saved <= 0 ? T{0} : T{1};  // 1 at a NaN, as torch
    case UnaryOp::sigmoid:
      return saved * (1 - saved);
    case UnaryOp::tanh:
      return 1 - saved * saved;
    case UnaryOp::relu6:
      return saved <= 0 || saved >= 6 ? T{0} : T{1};
    case UnaryOp::hardsigmoid:
      return saved > 0 && saved < 1 ? T{1} / 6 : T{0};
    case UnaryOp::hardswish:
      if (saved <= -3) return 0;
      return saved >= 3 ? T{1} : (2 * saved + 3) / 6;
    case UnaryOp::silu:
      return sigmoid(saved) * (1 + saved * (1 - sigmoid(saved)));
    case UnaryOp::swish:
      return sigmoid(a * saved) * (1 + a * saved * (1 - sigmoid(a * saved)));
    case UnaryOp::gelu:
      return normal_cdf(saved) + saved * std::exp(-saved * saved / 2) * T(0.39894228040143268);
    case UnaryOp::gelu_tanh:
      return gelu_tanh_slope(saved);
    case UnaryOp::mish: {
      const T t = std::tanh(log1p_exp(saved));
      return t + saved * (1 - t * t) * sigmoid(saved);
    }
    case UnaryOp::leaky_relu:
      return saved > 0 ? T{1} : a;
    case UnaryOp::elu:
      if (saved > 0) return 1;
      return a >= 0 ? saved + a : a * std::exp(saved);
    case UnaryOp::softplus:
      return sigmoid(a * saved);
    case UnaryOp::hardtanh:
      return saved <= a || saved >= b ? T{0} : T{1};
    case UnaryOp::clamp:
      return saved >= a && saved <= b ? T{1} : T{0};
    case UnaryOp::affine:
      return a;
    case UnaryOp::divide:
      return 1 / a;
    case UnaryOp::reciprocal:
      return -a / saved / saved;
    case UnaryOp::pow: {  // 0 where the result does not depend on x
      const double factor = f.a * f.b;
      return factor == 0 ? T{0} : static_cast<T>(factor * std::pow(f.b * saved + f.c, f.a - 1));
    }
    case UnaryOp::square:
      return 2 * saved;
    case UnaryOp::abs:
      return static_cast<T>((saved > 0) - (saved < 0));
    case UnaryOp::neg:
      return -1;
    case UnaryOp::sign:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
      return 0;
    case UnaryOp::exp:
      return saved;
    case UnaryOp::expm1:
      return saved + 1;
    case UnaryOp::log:
      return 1 / saved;
    case UnaryOp::log1p:
      return 1 / (1 + saved);
    case UnaryOp::sqrt:
      return 1 / (2 * saved);
    case UnaryOp::rsqrt:
      return T(-0.5) * saved * saved * saved;
    case UnaryOp::sin:
      return std::cos(saved);
    case UnaryOp::cos:
      return -std::sin(saved);
    case UnaryOp::erf:
      return T(1.1283791670955126) * std::exp(-saved * saved);
  }
  return 1;
}

template <class T>
void unary_forward(Context&, const UnaryParams& f, int64_t count, const T* x, T* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = unary(f, x[i]);
}

template <class T>
void unary_backward(Context&, const UnaryParams& f, int64_t count, const T* saved, const T* dy, T* dx) {
  for (int64_t i = 0; i < count; ++i) dx[i] = dy[i] * unary_slope(f, saved ? saved[i] : T{0});
}

}  // namespace dnn::reference
