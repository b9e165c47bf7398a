#pragma once
#include <algorithm>
#include <cmath>

#include <kernels/epilogue.h>

// The activations that a batch norm may apply, in double, for columns that overflow a float.
namespace dnn::cpu {

inline double exact_sigmoid(double z) { return 0.5 * (1 + std::tanh(0.5 * z)); }
inline double exact_clamp(double z, double most) { return std::min(std::max(z, 0.0), most); }

// The result, of those whose slope follows from it.
inline double exact_activation(Activation activation, double z) {
  switch (activation.op) {
    case UnaryOp::relu:
      return std::max(z, 0.0);
    case UnaryOp::relu6:
      return exact_clamp(z, 6);
    case UnaryOp::sigmoid:
      return exact_sigmoid(z);
    case UnaryOp::tanh:
      return std::tanh(z);
    case UnaryOp::hardsigmoid:
      return exact_clamp(z / 6 + 0.5, 1);
    default:
      return z;
  }
}

// d result / d z, from the result where slope_from_output(activation), else from z.
inline double exact_slope(Activation activation, double saved) {
  switch (activation.op) {
    case UnaryOp::relu:
      return saved > 0 ? 1 : 0;
    case UnaryOp::relu6:
      return saved > 0 && saved < 6 ? 1 : 0;
    case UnaryOp::sigmoid:
      return saved - saved * saved;
    case UnaryOp::tanh:
      return (1 - saved) * (1 + saved);
    case UnaryOp::hardsigmoid:
      return saved > 0 && saved < 1 ? 1.0 / 6 : 0;
    case UnaryOp::hardswish:
      if (saved <= -3 || saved >= 3) return saved > 0 ? 1 : 0;
      return saved / 3 + 0.5;
    case UnaryOp::silu: {
      const double s = exact_sigmoid(saved);
      return s + saved * s * (1 - s);
    }
    case UnaryOp::gelu:
      return 0.5 * std::erfc(-saved * std::sqrt(0.5)) + saved * std::exp(-0.5 * saved * saved) / std::sqrt(2 * M_PI);
    default:
      return 1;
  }
}

}  // namespace dnn::cpu
