#pragma once
#include <algorithm>
#include <cmath>

#include <kernels/unary.h>

// The activations that a batch norm may apply, in double, for columns that overflow a float.
namespace dnn::cpu {

inline double exact_sigmoid(double z) { return 0.5 * (1 + std::tanh(0.5 * z)); }

// The result, of those whose slope follows from it.
inline double exact_activation(const UnaryParams& f, double z) {
  switch (f.op) {
    case UnaryOp::relu:
      return std::max(z, 0.0);
    case UnaryOp::relu6:
      return std::clamp(z, 0.0, 6.0);
    case UnaryOp::hardtanh:
      return std::clamp(z, f.a, f.b);
    case UnaryOp::sigmoid:
      return exact_sigmoid(z);
    case UnaryOp::tanh:
      return std::tanh(z);
    case UnaryOp::hardsigmoid:
      return std::clamp(z / 6 + 0.5, 0.0, 1.0);
    case UnaryOp::leaky_relu:
      return z > 0 ? z : f.a * z;
    case UnaryOp::elu:
      return z > 0 ? z : f.a * std::expm1(z);
    default:
      return z;
  }
}

// z * s(c * z) has the slope s + c * z * s * (1 - s), s the sigmoid.
inline double exact_gated_slope(double z, double argument, double argument_slope) {
  const double s = exact_sigmoid(argument), rest = s * exact_sigmoid(-argument);
  return rest == 0 ? s : s + z * argument_slope * rest;
}

// d result / d z, from the result where slope_from_output(f), else from z.
inline double exact_slope(const UnaryParams& f, double saved) {
  switch (f.op) {
    case UnaryOp::relu:
      return saved > 0 ? 1 : 0;
    case UnaryOp::relu6:
      return saved > 0 && saved < 6 ? 1 : 0;
    case UnaryOp::hardtanh:
      return saved > f.a && saved < f.b ? 1 : 0;
    case UnaryOp::sigmoid:
      return saved - saved * saved;
    case UnaryOp::tanh:
      return (1 - saved) * (1 + saved);
    case UnaryOp::hardsigmoid:
      return saved > 0 && saved < 1 ? 1.0 / 6 : 0;
    case UnaryOp::hardswish:
      if (saved <= -3 || saved >= 3) return saved > 0 ? 1 : 0;
      return saved / 3 + 0.5;
    case UnaryOp::silu:
      return exact_gated_slope(saved, saved, 1);
    case UnaryOp::swish:
      return exact_gated_slope(saved, f.a * saved, f.a);
    case UnaryOp::gelu:
      return 0.5 * std::erfc(-saved * std::sqrt(0.5)) + saved * std::exp(-0.5 * saved * saved) / std::sqrt(2 * M_PI);
    case UnaryOp::gelu_tanh: {
      const double inner = std::clamp(saved, -40.0, 40.0), c = 2 * std::sqrt(2 / M_PI);
      return exact_gated_slope(inner, c * (inner + 0.044715 * inner * inner * inner),
                               c * (1 + 3 * 0.044715 * inner * inner));
    }
    case UnaryOp::mish: {
      const double inner = std::clamp(saved, -700.0, 40.0), t = std::tanh(std::log1p(std::exp(inner)));
      return t + inner * exact_sigmoid(inner) * (1 - t * t);
    }
    case UnaryOp::leaky_relu:
      return saved > 0 ? 1 : f.a;
    case UnaryOp::elu:
      if (saved > 0) return 1;
      return f.a >= 0 ? saved + f.a : f.a * std::exp(saved);
    case UnaryOp::softplus:
      return exact_sigmoid(f.a * saved);
    default:
      return 1;
  }
}

}  // namespace dnn::cpu
