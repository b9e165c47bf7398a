#pragma once
#include <math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// The device's fast functions. NVIDIA gives their largest errors; the value here is as far from the true one as that
// allows, above or below by the bits of the argument, so that a kernel or test that takes them for exact shows.
namespace emu {

// A float between x and the true value, at most `error` away from the latter.
inline float at_edge(double exact, double error, float argument) {
  if (!(std::fabs(exact) <= 3e38)) return static_cast<float>(exact);
  const bool below = std::popcount(std::bit_cast<uint32_t>(argument) * 0x9E3779B1u) & 1;
  float result = static_cast<float>(below ? exact - error : exact + error);
  while (std::fabs(static_cast<double>(result) - exact) > error) {
    const float closer = std::nextafterf(result, static_cast<float>(exact));
    if (closer == result) break;
    result = closer;
  }
  return result;
}

// The error in units of the last place of the true value.
inline float at_edge_ulp(double exact, double ulps, float argument) {
  if (exact == 0 || !(std::fabs(exact) <= 3e38)) return static_cast<float>(exact);
  const int exponent = std::max(std::ilogb(exact), -126);
  return at_edge(exact, ulps * std::ldexp(1.0, exponent - 23), argument);
}

inline float approximate_log(double exact, double error_near_1, double ulps, float x) {
  return x >= 0.5f && x <= 2.0f ? at_edge(exact, error_near_1, x) : at_edge_ulp(exact, ulps, x);
}

inline float fast_exp(float x) {
  if (x == 0) return 1;
  return at_edge_ulp(::exp(static_cast<double>(x)), 2 + std::floor(std::fabs(1.173 * x)), x);
}
inline float fast_exp10(float x) {
  if (x == 0) return 1;
  return at_edge_ulp(::pow(10.0, static_cast<double>(x)), 2 + std::floor(std::fabs(2.97 * x)), x);
}
inline float fast_log(float x) { return approximate_log(::log(static_cast<double>(x)), 0x1p-21 * 0.7526, 3, x); }
inline float fast_log2(float x) { return approximate_log(::log2(static_cast<double>(x)), 0x1p-22, 2, x); }
inline float fast_log10(float x) { return approximate_log(::log10(static_cast<double>(x)), 0x1p-24, 3, x); }
// As the device makes it of two others.
inline float fast_pow(float x, float y) {
  const float power = y * fast_log2(x);
  return at_edge_ulp(::exp2(static_cast<double>(power)), 2, power);
}

// In [-pi, pi]; beyond, the error is "larger", here in proportion.
inline float fast_sin(float x) {
  if (x == 0) return x;
  return at_edge(::sin(static_cast<double>(x)), 0x1p-21 * 0.7526 * std::fmax(1.0, std::fabs(x) / M_PI), x);
}
inline float fast_cos(float x) {
  return at_edge(::cos(static_cast<double>(x)), 0x1p-21 * 0.8766 * std::fmax(1.0, std::fabs(x) / M_PI), x);
}
inline float __fdividef(float a, float b) {
  const float size = std::fabs(b);
  if (size > 0x1p126f && size <= 3.4028235e38f) return a * 0.0f;
  return at_edge_ulp(static_cast<double>(a) / static_cast<double>(b), 2, b);
}
inline float fast_tan(float x) { return __fdividef(fast_sin(x), fast_cos(x)); }
inline void fast_sincos(float x, float* sine, float* cosine) {
  *sine = fast_sin(x);
  *cosine = fast_cos(x);
}
inline float fast_tanh(float x) {
  const double exact = ::tanh(static_cast<double>(x));
  return at_edge(exact, std::fabs(exact) * 0x1p-11, x);
}
inline float rsqrtf(float x) { return at_edge_ulp(1 / ::sqrt(static_cast<double>(x)), 2, x); }

}  // namespace emu

// The C library has functions of these names.
#define __expf(x) ::emu::fast_exp(x)
#define __exp10f(x) ::emu::fast_exp10(x)
#define __logf(x) ::emu::fast_log(x)
#define __log2f(x) ::emu::fast_log2(x)
#define __log10f(x) ::emu::fast_log10(x)
#define __powf(x, y) ::emu::fast_pow(x, y)
#define __sinf(x) ::emu::fast_sin(x)
#define __cosf(x) ::emu::fast_cos(x)
#define __tanf(x) ::emu::fast_tan(x)
#define __sincosf(x, sine, cosine) ::emu::fast_sincos(x, sine, cosine)
#define __tanhf(x) ::emu::fast_tanh(x)
