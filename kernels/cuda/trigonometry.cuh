#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <emulation/cuda.h>

// sin and cos for all floats, within 2 units in the last place. CUDA's own keep an array in local memory.
namespace dnn::cuda {

// x = quadrant * pi / 2 + rest, |rest| hardly above pi / 4.
struct Angle {
  float rest;
  int quadrant;  // modulo 4
};

// For |x| beyond reach of reduce_angle: the bits of 2 / pi that matter times the 24 of x, after Payne and Hanek.
__device__ inline Angle reduce_large_angle(float x) {
  static constexpr uint32_t kBits[] = {0,          0x28be60db, 0x9391054a, 0x7f09d5f4,
                                       0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea};  // of 1 / (2 pi)
  uint32_t pattern;
  std::memcpy(&pattern, &x, sizeof pattern);
  const uint32_t exponent = (pattern >> 23 & 255) - 126, mantissa = (pattern & 0x7fffff) << 8 | 0x80000000;
  const uint32_t word = exponent >> 5, shift = exponent & 31;
  const auto from = [&](uint32_t at) {
    return static_cast<uint32_t>(((uint64_t{kBits[at]} << 32 | kBits[at + 1]) << shift) >> 32);
  };
  const uint32_t high = from(word), middle = from(word + 1), low = word + 3 < 8 ? from(word + 2) : 0;
  uint64_t turns = uint64_t{mantissa} * middle + (uint64_t{mantissa} * low >> 32);
  turns += uint64_t{mantissa * high} << 32;  // as a fraction of 2^64
  const uint64_t rounded = turns + (uint64_t{1} << 61);
  const auto quadrant = static_cast<int>(rounded >> 62);
  const auto rest = static_cast<int64_t>(turns - (rounded >> 62 << 62));
  constexpr float kQuarterTurn = 0x1.921fb6p-62f;  // pi / 2 in units of 2^-62
  const float size = static_cast<float>(rest) * kQuarterTurn;
  return x < 0 ? Angle{-size, -quadrant & 3} : Angle{size, quadrant};
}

__device__ inline Angle reduce_angle(float x) {
  constexpr float kMost = 65000;
  if (fabsf(x) >= kMost) return reduce_large_angle(x);
  // pi / 2 in three parts; the first product's difference with x is exact.
  const float turns = rintf(x * 0.636619772f);
  float rest = fmaf(turns, -0x1.921fb6p+0f, x);
  rest = fmaf(turns, 0x1.777a5cp-25f, rest);
  rest = fmaf(turns, 0x1.ee59dap-50f, rest);
  return {rest, static_cast<int>(turns) & 3};
}

// sin(x + quarters * pi / 2). The polynomials are those of Cephes, sinf.c.
__device__ inline float sine(float x, int quarters) {
  if (!(fabsf(x) < std::numeric_limits<float>::infinity())) return x - x;
  const Angle angle = reduce_angle(x);
  const int quadrant = angle.quadrant + quarters;
  const float r = angle.rest, s = r * r;
  float y;
  if (quadrant & 1) {
    y = fmaf(s, 2.443315711809948e-5f, -1.388731625493765e-3f);
    y = fmaf(fmaf(fmaf(y, s, 4.166664568298827e-2f), s, -0.5f), s, 1.0f);
  } else {
    y = fmaf(s, -1.9515295891e-4f, 8.3321608736e-3f);
    y = fmaf(fmaf(y, s, -1.6666654611e-1f), r * s, r);
  }
  return quadrant & 2 ? -y : y;
}
__device__ inline float sine(float x) { return sine(x, 0); }
__device__ inline float cosine(float x) { return sine(x, 1); }

}  // namespace dnn::cuda
