#pragma once
#include <kernels/epilogue.h>

#include "rows.h"

// What the tests of kernels with an epilogue share: every activation, and bounds for what it makes of a sum's error.
namespace dnn::test {

// Bounds are floats, on which no sum of a test falls.
inline std::vector<Activation> every_activation() {
  return {Activation::none,
          Activation::relu,
          Activation::sigmoid,
          Activation::tanh,
          Activation::relu6,
          Activation::hardsigmoid,
          Activation::hardswish,
          Activation::silu,
          Activation::gelu,
          Activation::gelu_tanh,
          Activation::mish,
          Activation::leaky_relu(0.1),
          Activation::leaky_relu(-0.5),
          Activation::elu(1.5),
          Activation::elu(-0.5),
          Activation::softplus(2),
          Activation::softplus(-1),
          Activation::swish(1.7),
          Activation::hardtanh(-0.2373046875, 0.79150390625)};
}

inline std::vector<Activation> activations_with_slope_from_output() {
  std::vector<Activation> found;
  for (const Activation& f : every_activation()) {
    if (slope_from_output(f)) found.push_back(f);
  }
  return found;
}

// No slope of the function is larger, nor changes faster (kinks aside).
inline double steepest(const Activation& f) { return 2 * std::max(1.0, has_parameters(f.op) ? std::abs(f.a) : 1.0); }

inline std::string text(const Activation& f) {
  return "activation " + std::to_string(static_cast<int>(f.op)) + " (" + std::to_string(f.a) + ", " +
         std::to_string(f.b) + ")";
}

// Each element's sum of magnitudes as the bound of check_close() for the function's results.
inline Buffer<double> magnitudes(const Activation& f, const Buffer<double>& sums, const Buffer<double>& y64) {
  Buffer<double> bounds = sums;
  if (f == Activation::none) return bounds;
  for (int64_t i = 0; i < bounds.size(); ++i) bounds[i] = steepest(f) * sums[i] + std::abs(y64[i]);
  return bounds;
}

// Which operands an epilogue has.
struct Parts {
  bool bias = false, residual = false, scale = false;
};

inline std::vector<Parts> every_parts() {
  return {{}, {true}, {false, true}, {true, true}, {false, false, true}, {true, false, true}, {true, true, true}};
}

inline std::string text(const Parts& p) {
  return std::string(p.bias ? ", bias" : "") + (p.residual ? ", residual" : "") + (p.scale ? ", scale" : "");
}

template <class T>
Epilogue<T> epilogue_of(const Parts& parts, const Buffer<T>& bias, const Buffer<T>& residual, const Buffer<T>& scale,
                        const Activation& activation) {
  return {parts.bias ? bias.get() : nullptr, parts.residual ? residual.get() : nullptr, activation,
          parts.scale ? scale.get() : nullptr};
}

}  // namespace dnn::test
