#pragma once
#include <bit>
#include <cstdint>

// Numbers of 16 bits, for storage: they compute as the float that they convert to. From float they round to the
// nearest, to even where two are as near; what is beyond the largest becomes infinite, a NaN stays one.
namespace dnn {

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction; up to 65504.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  Float16(float value) : bits(to_bits(value)) {}
  static Float16 from_bits(uint16_t bits) {
    Float16 half;
    half.bits = bits;
    return half;
  }

  operator float() const {
    const uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude < 0x400) {  // a multiple of 2^-24, which is exact
      const float value = static_cast<float>(magnitude) * 0x1p-24f;
      return sign ? -value : value;
    }
    const uint32_t rebias = magnitude < 0x7c00 ? 112u << 23 : 224u << 23;  // infinity and NaN keep a full exponent
    return std::bit_cast<float>(sign | ((magnitude << 13) + rebias));
  }

 private:
  static uint16_t to_bits(float value) {
    const auto whole = std::bit_cast<uint32_t>(value);
    const uint32_t sign = whole >> 16 & 0x8000u, magnitude = whole & 0x7fffffffu;
    uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    } else if (magnitude >= 0x477ff000u) {  // 65520, halfway to what comes after the largest
      half = 0x7c00u;
    } else if (magnitude < 0x38800000u) {  // below 2^-14: the last bit of a sum with 0.5 is 2^-24
      half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
    } else {
      half = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    }
    return static_cast<uint16_t>(sign | half);
  }
};

// The upper half of a float: 8 bits of exponent, 7 of fraction.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  BFloat16(float value) : bits(to_bits(value)) {}
  static BFloat16 from_bits(uint16_t bits) {
    BFloat16 half;
    half.bits = bits;
    return half;
  }

  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }

 private:
  static uint16_t to_bits(float value) {
    const auto whole = std::bit_cast<uint32_t>(value);
    if ((whole & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(whole >> 16 | 0x40u);
    return static_cast<uint16_t>((whole + 0x7fffu + (whole >> 16 & 1u)) >> 16);
  }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

}  // namespace dnn
