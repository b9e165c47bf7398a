#pragma once
#include <kernels/unary.h>
#include <kernels/cuda/power.cuh>
#include <kernels/cuda/trigonometry.cuh>
#include <kernels/cuda/vectors.cuh>

#include <cmath>

// The functions of enum UnaryOp and their slopes in float, for the kernels that apply them. A NaN is kept.
namespace dnn::cuda {

// The parameters as kernels take them.
struct UnaryFactors {
  float a = 0, b = 0, c = 0;
  Power power;  // of pow; a - 1 for its slope, which is `slope` times that power
  float slope = 0;

  static UnaryFactors of_value(const UnaryParams& f) { return {f, f.a, 0}; }
  static UnaryFactors of_slope(const UnaryParams& f) {
    const double factor = f.op == UnaryOp::pow ? f.a * f.b : 0;
    return {f, factor == 0 ? 0 : f.a - 1, factor};
  }
  UnaryFactors() = default;

 private:
  UnaryFactors(const UnaryParams& f, double to, double factor)
      : a(static_cast<float>(f.a)),
        b(static_cast<float>(f.b)),
        c(static_cast<float>(f.c)),
        power(f.op == UnaryOp::pow ? Power(to) : Power()),
        slope(static_cast<float>(factor)) {}
};

__device__ inline float sigmoid(float x) {
  const float e = expf(-fabsf(x));  // does not overflow
  return (x >= 0 ? 1.0f : e) / (1 + e);
}

// softplus with 1
__device__ inline float log1p_exp(float x) { return (x > 0 ? x : 0.0f) + log1pf(expf(-fabsf(x))); }

// The bound above wins where it is the smaller.
__device__ inline float clip(float x, float least, float most) {
  x = x < least ? least : x;
  return x > most ? most : x;
}

__device__ inline float normal_cdf(float x) { return 0.5f * erfcf(x * -0.707106781f); }

// Twice the argument of gelu_tanh's tanh, of which (1 + tanh) / 2 is the sigmoid.
__device__ inline float gelu_tanh_argument(float x) { return 1.59576912f * (x + 0.044715f * x * x * x); }

// exp(-x^2), right to the last places also where x^2 is large.
__device__ inline float exp_minus_square(float x) {
  const float square = x * x, y = expf(-square);
  return square < 128 ? y - y * fmaf(x, x, -square) : y;
}

template <UnaryOp kOp>
__device__ float unary_value(const UnaryFactors& f, float x) {
  if constexpr (kOp == UnaryOp::none) return x;
  if constexpr (kOp == UnaryOp::relu) return x < 0 ? 0.0f : x;
  if constexpr (kOp == UnaryOp::sigmoid) return sigmoid(x);
  if constexpr (kOp == UnaryOp::tanh) return tanhf(x);
  if constexpr (kOp == UnaryOp::relu6) return clip(x, 0, 6);
  if constexpr (kOp == UnaryOp::hardsigmoid) return clip(x + 3, 0, 6) * (1.0f / 6);
  if constexpr (kOp == UnaryOp::hardswish) return x * (clip(x + 3, 0, 6) * (1.0f / 6));
  if constexpr (kOp == UnaryOp::silu) return x * sigmoid(x);
  if constexpr (kOp == UnaryOp::swish) return x * sigmoid(f.a * x);
  if constexpr (kOp == UnaryOp::gelu) return x * normal_cdf(x);
  if constexpr (kOp == UnaryOp::gelu_tanh) return x * sigmoid(gelu_tanh_argument(x));
  if constexpr (kOp == UnaryOp::mish) return x * tanhf(log1p_exp(x));
  if constexpr (kOp == UnaryOp::leaky_relu) return x < 0 ? f.a * x : x;
  if constexpr (kOp == UnaryOp::elu) return x < 0 ? f.a * expm1f(x) : x;
  if constexpr (kOp == UnaryOp::softplus) {
    const float limit = (f.a > 0) == (x > 0) ? x : 0.0f;
    return limit + log1pf(expf(-fabsf(f.a * x))) / f.a;
  }
  if constexpr (kOp == UnaryOp::hardtanh || kOp == UnaryOp::clamp) return clip(x, f.a, f.b);
  if constexpr (kOp == UnaryOp::affine) return f.a * x + f.b;
  if constexpr (kOp == UnaryOp::divide) return x / f.a;
  if constexpr (kOp == UnaryOp::reciprocal) return f.a / x;
  if constexpr (kOp == UnaryOp::pow) return raise(f.b * x + f.c, f.power);
  if constexpr (kOp == UnaryOp::square) return x * x;
  if constexpr (kOp == UnaryOp::abs) return fabsf(x);
  if constexpr (kOp == UnaryOp::neg) return -x;
  if constexpr (kOp == UnaryOp::sign) return static_cast<float>((x > 0) - (x < 0));
  if constexpr (kOp == UnaryOp::floor) return floorf(x);
  if constexpr (kOp == UnaryOp::ceil) return ceilf(x);
  if constexpr (kOp == UnaryOp::round) return rintf(x);
  if constexpr (kOp == UnaryOp::exp) return expf(x);
  if constexpr (kOp == UnaryOp::expm1) return expm1f(x);
  if constexpr (kOp == UnaryOp::log) return logf(x);
  if constexpr (kOp == UnaryOp::log1p) return log1pf(x);
  if constexpr (kOp == UnaryOp::sqrt) return sqrtf(x);
  if constexpr (kOp == UnaryOp::rsqrt) return rsqrtf(x);
  if constexpr (kOp == UnaryOp::sin) return sine(x);
  if constexpr (kOp == UnaryOp::cos) return cosine(x);
  if constexpr (kOp == UnaryOp::erf) return erff(x);
}

// From `saved`, which is the result where slope_from_output(kOp), else the input.
template <UnaryOp kOp>
__device__ float unary_slope(const UnaryFactors& f, float saved) {
  if constexpr (kOp == UnaryOp::none) return 1;
  if constexpr (kOp == UnaryOp::relu) return saved <= 0 ? 0.0f : 1.0f;  // 1 at a NaN, as torch
  if constexpr (kOp == UnaryOp::sigmoid) return saved * (1 - saved);
  if constexpr (kOp == UnaryOp::tanh) return 1 - saved * saved;
  if constexpr (kOp == UnaryOp::relu6) return saved <= 0 || saved >= 6 ? 0.0f : 1.0f;
  if constexpr (kOp == UnaryOp::hardsigmoid) return saved > 0 && saved < 1 ? 1.0f / 6 : 0.0f;
  if constexpr (kOp == UnaryOp::hardswish) {
    const float between = saved >= 3 ? 1.0f : saved * (1.0f / 3) + 0.5f;
    return saved <= -3 ? 0.0f : between;
  }
  if constexpr (kOp == UnaryOp::silu || kOp == UnaryOp::swish) {
    const float scaled = kOp == UnaryOp::silu ? saved : f.a * saved, s = sigmoid(scaled);
    return s * (1 + scaled * (1 - s));
  }
  if constexpr (kOp == UnaryOp::gelu) {
    return normal_cdf(saved) + saved * expf(saved * saved * -0.5f) * 0.39894228f;
  }
  if constexpr (kOp == UnaryOp::gelu_tanh) {
    const float s = sigmoid(gelu_tanh_argument(saved));
    const float slope = s + saved * s * (1 - s) * 1.59576912f * (1 + 0.134145f * saved * saved);
    return s == 0 || s == 1 ? s : slope;  // where the square may be infinite
  }
  if constexpr (kOp == UnaryOp::mish) {
    const float t = tanhf(log1p_exp(saved));
    return t + saved * (1 - t * t) * sigmoid(saved);
  }
  if constexpr (kOp == UnaryOp::leaky_relu) return saved > 0 ? 1.0f : f.a;
  if constexpr (kOp == UnaryOp::elu) {
    if (saved > 0) return 1;
    return f.a >= 0 ? saved + f.a : f.a * expf(saved);
  }
  if constexpr (kOp == UnaryOp::softplus) return sigmoid(f.a * saved);
  if constexpr (kOp == UnaryOp::hardtanh) return saved <= f.a || saved >= f.b ? 0.0f : 1.0f;
  if constexpr (kOp == UnaryOp::clamp) return saved >= f.a && saved <= f.b ? 1.0f : 0.0f;
  if constexpr (kOp == UnaryOp::affine) return f.a;
  if constexpr (kOp == UnaryOp::divide) return 1 / f.a;
  if constexpr (kOp == UnaryOp::reciprocal) return -f.a / saved / saved;
  if constexpr (kOp == UnaryOp::pow) return f.slope == 0 ? 0.0f : f.slope * raise(f.b * saved + f.c, f.power);
  if constexpr (kOp == UnaryOp::square) return 2 * saved;
  if constexpr (kOp == UnaryOp::abs) return static_cast<float>((saved > 0) - (saved < 0));
  if constexpr (kOp == UnaryOp::neg) return -1;
  if constexpr (kOp == UnaryOp::sign || kOp == UnaryOp::floor || kOp == UnaryOp::ceil || kOp == UnaryOp::round) {
    return 0;
  }
  if constexpr (kOp == UnaryOp::exp) return saved;
  if constexpr (kOp == UnaryOp::expm1) return saved + 1;
  if constexpr (kOp == UnaryOp::log) return 1 / saved;
  if constexpr (kOp == UnaryOp::log1p) return 1 / (1 + saved);
  if constexpr (kOp == UnaryOp::sqrt) return 1 / (2 * saved);
  if constexpr (kOp == UnaryOp::rsqrt) return -0.5f * saved * saved * saved;
  if constexpr (kOp == UnaryOp::sin) return cosine(saved);
  if constexpr (kOp == UnaryOp::cos) return -sine(saved);
  if constexpr (kOp == UnaryOp::erf) return 1.12837917f * exp_minus_square(saved);
}

// Any activation of a number, or of each of four, for a kernel that learns which it is as it runs.
template <class T>
__device__ T activate(UnaryOp op, const UnaryFactors& f, T x) {
  switch (op) {
#define DNN_ACTIVATION(name) \
  case UnaryOp::name:        \
    return map([&](float v) { return unary_value<UnaryOp::name>(f, v); }, x);
    DNN_ACTIVATION(relu)
    DNN_ACTIVATION(sigmoid)
    DNN_ACTIVATION(tanh)
    DNN_ACTIVATION(relu6)
    DNN_ACTIVATION(hardsigmoid)
    DNN_ACTIVATION(hardswish)
    DNN_ACTIVATION(silu)
    DNN_ACTIVATION(swish)
    DNN_ACTIVATION(gelu)
    DNN_ACTIVATION(gelu_tanh)
    DNN_ACTIVATION(mish)
    DNN_ACTIVATION(leaky_relu)
    DNN_ACTIVATION(elu)
    DNN_ACTIVATION(softplus)
    DNN_ACTIVATION(hardtanh)
#undef DNN_ACTIVATION
    default:
      return x;
  }
}

}  // namespace dnn::cuda
