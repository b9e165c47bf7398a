#pragma once

namespace dnn {

// Functions of one number. a, b and c are those of UnaryParams.
enum class UnaryOp {
  // Activations.
  none,         // x
  relu,         // max(x, 0)
  sigmoid,      // 1 / (1 + exp(-x))
  tanh,         //
  relu6,        // min(max(x, 0), 6)
  hardsigmoid,  // relu6(x + 3) / 6
  hardswish,    // x * hardsigmoid(x)
  silu,         // x * sigmoid(x)
  swish,        // x * sigmoid(a * x)
  gelu,         // x * (1 + erf(x / sqrt(2))) / 2
  gelu_tanh,    // x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
  mish,         // x * tanh(log(1 + exp(x)))
  leaky_relu,   // x > 0 ? x : a * x
  elu,          // x > 0 ? x : a * (exp(x) - 1)
  softplus,     // log(1 + exp(a * x)) / a
  hardtanh,     // clamp with slope 0 at the bounds
  // Arithmetic.
  affine,      // a * x + b
  divide,      // x / a
  reciprocal,  // a / x
  pow,         // (b * x + c) ^ a
  square,      // x * x
  clamp,       // min(max(x, a), b); slope 1 at the bounds
  abs,         // slope 0 at 0
  neg,
  sign,   // 0 at 0; slope 0, as of the next three
  floor,  //
  ceil,   //
  round,  // halves to even
  // Functions.
  exp,
  expm1,  // exp(x) - 1
  log,
  log1p,  // log(1 + x)
  sqrt,
  rsqrt,  // 1 / sqrt(x)
  sin,
  cos,
  erf
};

struct UnaryParams {
  UnaryOp op = UnaryOp::none;
  double a = 0, b = 0, c = 0;

  bool operator==(const UnaryParams&) const = default;
};

// A function that can follow another in the same pass, as part of an epilogue.
struct Activation : UnaryParams {
  static const Activation none, relu, sigmoid, tanh, relu6, hardsigmoid, hardswish, silu, gelu, gelu_tanh, mish;

  // Parameters may be negative, as torch's.
  static constexpr Activation leaky_relu(double negative_slope = 0.01) {
    return {{UnaryOp::leaky_relu, negative_slope}};
  }
  static constexpr Activation elu(double alpha = 1) { return {{UnaryOp::elu, alpha}}; }
  static constexpr Activation softplus(double beta = 1) { return {{UnaryOp::softplus, beta}}; }
  static constexpr Activation swish(double beta) { return {{UnaryOp::swish, beta}}; }
  static constexpr Activation hardtanh(double min = -1, double max = 1) { return {{UnaryOp::hardtanh, min, max}}; }
};

inline constexpr Activation Activation::none{{UnaryOp::none}};
inline constexpr Activation Activation::relu{{UnaryOp::relu}};
inline constexpr Activation Activation::sigmoid{{UnaryOp::sigmoid}};
inline constexpr Activation Activation::tanh{{UnaryOp::tanh}};
inline constexpr Activation Activation::relu6{{UnaryOp::relu6}};
inline constexpr Activation Activation::hardsigmoid{{UnaryOp::hardsigmoid}};
inline constexpr Activation Activation::hardswish{{UnaryOp::hardswish}};
inline constexpr Activation Activation::silu{{UnaryOp::silu}};
inline constexpr Activation Activation::gelu{{UnaryOp::gelu}};
inline constexpr Activation Activation::gelu_tanh{{UnaryOp::gelu_tanh}};
inline constexpr Activation Activation::mish{{UnaryOp::mish}};

// Whether the slope follows from the result. Of the others it needs the input, as it does of leaky_relu and elu with a
// negative a, whose results don't tell the sign of x.
constexpr bool slope_from_output(UnaryOp op, double a = 0) {
  switch (op) {
    case UnaryOp::leaky_relu:
    case UnaryOp::elu:
      return a >= 0;
    case UnaryOp::none:
    case UnaryOp::relu:
    case UnaryOp::sigmoid:
    case UnaryOp::tanh:
    case UnaryOp::relu6:
    case UnaryOp::hardsigmoid:
    case UnaryOp::hardtanh:
    case UnaryOp::exp:
    case UnaryOp::expm1:
    case UnaryOp::sqrt:
    case UnaryOp::rsqrt:
      return true;
    default:
      return false;
  }
}
constexpr bool slope_from_output(const UnaryParams& f) { return slope_from_output(f.op, f.a); }

// Whether the slope depends on neither.
constexpr bool constant_slope(UnaryOp op) {
  switch (op) {
    case UnaryOp::none:
    case UnaryOp::affine:
    case UnaryOp::divide:
    case UnaryOp::neg:
    case UnaryOp::sign:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
      return true;
    default:
      return false;
  }
}

constexpr bool is_activation(UnaryOp op) { return op <= UnaryOp::hardtanh; }

// Of the activations: whether the function has parameters.
constexpr bool has_parameters(UnaryOp op) {
  return op == UnaryOp::swish || op == UnaryOp::leaky_relu || op == UnaryOp::elu || op == UnaryOp::softplus ||
         op == UnaryOp::hardtanh;
}

}  // namespace dnn
