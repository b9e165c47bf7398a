#include <kernels/half.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace dnn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Every finite number of the type that is not negative, its upper neighbor, and what lies between them: `last` is the
// largest one's bits, whose upper neighbor would be `beyond`.
template <class T>
void check_rounding(uint16_t last, float beyond) {
  for (uint16_t bits = 0; bits <= last; ++bits) {
    INFO("bits " << bits);
    const float low = T::from_bits(bits), high = bits == last ? beyond : float(T::from_bits(bits + 1));
    REQUIRE(low < high);
    const float middle = low + (high - low) / 2;
    const uint16_t even = bits % 2 == 0 ? bits : bits + 1;
    REQUIRE(T(low).bits == bits);
    REQUIRE(T(-low).bits == (bits | 0x8000));
    REQUIRE(T(std::nextafter(middle, -kInfinity)).bits == bits);
    REQUIRE(T(std::nextafter(middle, kInfinity)).bits == bits + 1);
    REQUIRE(T(middle).bits == even);
    REQUIRE(T(-middle).bits == (even | 0x8000));
  }
}

TEST_CASE("half: float16 rounds to the nearest, to even", "[half]") {
  check_rounding<Float16>(0x7bff, 65536);
  CHECK(float(Float16(65504)) == 65504);
  CHECK(float(Float16(1e30f)) == kInfinity);
  CHECK(float(Float16(-kInfinity)) == -kInfinity);
  CHECK(float(Float16(0x1p-24f)) == 0x1p-24f);
  CHECK(float(Float16::from_bits(0x3c00)) == 1);
  CHECK(float(Float16::from_bits(0x0001)) == 0x1p-24f);
  CHECK(float(Float16::from_bits(0xc500)) == -5);
  CHECK(Float16(0.1f).bits == 0x2e66);
  CHECK(Float16(1e-30f).bits == 0);
  CHECK(Float16(std::numeric_limits<float>::denorm_min()).bits == 0);
}

TEST_CASE("half: bfloat16 rounds to the nearest, to even", "[half]") {
  check_rounding<BFloat16>(0x7f7e, float(BFloat16::from_bits(0x7f7f)));  // what follows the largest is no float
  CHECK(float(BFloat16(std::numeric_limits<float>::max())) == kInfinity);
  CHECK(float(BFloat16(kInfinity)) == kInfinity);
  CHECK(float(BFloat16::from_bits(0xc0a0)) == -5);
  CHECK(BFloat16(0.1f).bits == 0x3dcd);
}

TEST_CASE("half: a NaN stays one, whatever its bits", "[half]") {
  for (const uint32_t bits : {0x7fc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu}) {
    CHECK(std::isnan(float(Float16(std::bit_cast<float>(bits)))));
    CHECK(std::isnan(float(BFloat16(std::bit_cast<float>(bits)))));
  }
  int count = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = Float16::from_bits(static_cast<uint16_t>(bits));
    count += std::isnan(value);
    REQUIRE(Float16(value).bits == (std::isnan(value) ? bits | 0x200 : bits));
  }
  CHECK(count == 2 * 1023);
}

}  // namespace
}  // namespace dnn
