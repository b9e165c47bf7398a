#include <emulation/cuda.h>
#include <emulation/math.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Error {
  double largest = 0;
  int above = 0, below = 0;
};

// Of the values between `from` and `to`, in what the documented bound is given in.
template <class F, class Exact, class Unit>
Error errors(float from, float to, F function, Exact exact, Unit unit) {
  Error result;
  for (int i = 0; i <= 20000; ++i) {
    const float x = from + (to - from) * static_cast<float>(i) / 20000;
    const double right = exact(static_cast<double>(x));
    const double error = (static_cast<double>(function(x)) - right) / unit(x, right);
    result.largest = std::max(result.largest, std::fabs(error));
    result.above += error > 0;
    result.below += error < 0;
  }
  return result;
}

double ulp(double x) { return std::ldexp(1.0, std::max(std::ilogb(x), -126) - 23); }

void check(const Error& error, double most, double least) {
  CHECK(error.largest <= most * 1.0001);
  CHECK(error.largest >= least);
  CHECK(error.above > 7000);
  CHECK(error.below > 7000);
}

// Names as a library's own namespace finds them.
namespace library {
__device__ float all(float x) {
  return expf(x) + logf(x + 2) + erff(x) + tanhf(x) + fmaxf(x, 1) + fminf(x, 1) + fmaf(x, x, x) + sqrtf(x) + rsqrtf(x) +
         fabsf(x) + floorf(x) + powf(x, 2) + log1pf(x) + expm1f(x) + rintf(x) + exp2f(x) + max(x, 2.0f) + min(1, 2) +
         __expf(x) + (isnan(x) || isinf(x) ? 1.0f : 0.0f) + copysignf(x, -1) + truncf(x) + cbrtf(x) + exp(x) + abs(x);
}
__global__ void call(float* out) { *out = all(*out); }
}  // namespace library

}  // namespace

TEST_CASE("math: fast functions are wrong by what NVIDIA allows, in both directions") {
  const auto one = [](float, double) { return 1.0; };
  const auto in_ulp = [](float, double right) { return ulp(right); };
  const auto of_exp = [](float x, double right) { return ulp(right) * (2 + std::floor(std::fabs(1.173 * x))); };
  check(errors(
            -80, 80, [](float x) { return __expf(x); }, [](double x) { return std::exp(x); }, of_exp),
        1, 0.95);
  CHECK(__expf(0.0f) == 1);
  CHECK(__expf(1000.0f) == kInfinity);
  CHECK(__expf(-1000.0f) == 0);
  const double near_one = std::pow(2.0, -21.41);
  const auto log_of = [](float x) { return __logf(x); };
  const auto exact_log = [](double x) { return std::log(x); };
  check(errors(0.5f, 2, log_of, exact_log, one), near_one, 0.8 * near_one);
  check(errors(2.01f, 1e6f, log_of, exact_log, in_ulp), 3, 2.1);
  CHECK(__logf(0.0f) == -kInfinity);
  CHECK(std::isnan(__logf(-1.0f)));
  check(errors(
            0.5f, 2, [](float x) { return __log2f(x); }, [](double x) { return std::log2(x); }, one),
        0x1p-22, 0.6 * 0x1p-22);
  check(errors(
            2.1f, 1e5f, [](float x) { return __log10f(x); }, [](double x) { return std::log10(x); }, in_ulp),
        3, 2.1);
  check(errors(
            -3.14f, 3.14f, [](float x) { return __sinf(x); }, [](double x) { return std::sin(x); }, one),
        near_one, 0.8 * near_one);
  const double of_cosine = std::pow(2.0, -21.19);
  check(errors(
            -3.14f, 3.14f, [](float x) { return __cosf(x); }, [](double x) { return std::cos(x); }, one),
        of_cosine, 0.8 * of_cosine);
  check(errors(
            1, 50, [](float x) { return __fdividef(3.0f, x); }, [](double x) { return 3 / x; }, in_ulp),
        2, 1.2);
  check(errors(
            1, 50, [](float x) { return rsqrtf(x); }, [](double x) { return 1 / std::sqrt(x); }, in_ulp),
        2, 1.2);
  check(errors(
            0.01f, 5, [](float x) { return __tanhf(x); }, [](double x) { return std::tanh(x); },
            [](float, double right) { return std::fabs(right) * 0x1p-11; }),
        1, 0.99);
  CHECK(__fdividef(1.0f, 1e38f) == 0);
  CHECK(std::fabs(__powf(3, 4) - 81) < 0.001f);
}

TEST_CASE("math: the reciprocal square root is rounded to nearest") {
  // Two binades stand for all. (Every float of them was tried once; here each eighth.) The midpoint m beside the result
  // r: x * m * m against 1, in integers of 24 + 2 * 25 bits.
  int wrong = 0;
  for (uint32_t bits = 0x3F800001u; bits < 0x40800000u; bits += 8) {
    const float x = __uint_as_float(bits), r = __frsqrt_rn(x);
    const auto scaled_x = static_cast<unsigned __int128>(std::ldexp(static_cast<double>(x), 23));
    const auto above_midpoint = [&](double m) {  // whether 1 / sqrt(x) > m
      const auto scaled_m = static_cast<unsigned __int128>(std::ldexp(m, 25));
      return scaled_x * scaled_m * scaled_m < static_cast<unsigned __int128>(1) << 73;
    };
    const double up = (static_cast<double>(r) + static_cast<double>(std::nextafterf(r, 2))) / 2;
    const double down = (static_cast<double>(r) + static_cast<double>(std::nextafterf(r, 0))) / 2;
    wrong += above_midpoint(up) || !above_midpoint(down);
  }
  CHECK(wrong == 0);
  CHECK(__frsqrt_rn(0.25f) == 2);
  CHECK(__frsqrt_rn(0.0f) == kInfinity);
}

TEST_CASE("math: bits and integers") {
  CHECK(__popc(0xF0F0u) == 8);
  CHECK(__popcll(~0ull) == 64);
  CHECK(__clz(1) == 31);
  CHECK(__clz(0) == 32);
  CHECK(__clzll(1) == 63);
  CHECK(__ffs(8) == 4);
  CHECK(__ffs(0) == 0);
  CHECK(__brev(1) == 0x80000000u);
  CHECK(__brev(0x12345678u) == 0x1E6A2C48u);
  CHECK(__brevll(1) == 1ull << 63);
  CHECK(__umulhi(0x80000000u, 6) == 3);
  CHECK(__mulhi(-1, 1) == -1);
  CHECK(__umul64hi(1ull << 63, 6) == 3);
  CHECK(__mul64hi(-1, 5) == -1);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u);
  CHECK(__byte_perm(0x80u, 0x7F00u, 0x05D8) == 0x807F00FFu);  // a sign of byte 0, one of byte 5, bytes 5 and 0
  CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3);
  CHECK(__funnelshift_r(2, 1, 1) == 0x80000001u);
  CHECK(__float_as_uint(1.0f) == 0x3F800000u);
  CHECK(__int_as_float(0x40000000) == 2);
  CHECK(__float2int_rn(2.5f) == 2);
  CHECK(__float2int_rz(-2.7f) == -2);
  CHECK(__float2int_rd(-2.1f) == -3);
  CHECK(__float2int_ru(2.1f) == 3);
  CHECK(__float2int_rn(3e9f) == 2147483647);
  CHECK(__float2int_rn(-3e9f) == -2147483647 - 1);
  CHECK(__float2int_rn(std::nanf("")) == 0);
  CHECK(__float2uint_rn(-5.0f) == 0);
  CHECK(__float2uint_rn(5e9f) == ~0u);
  CHECK(__double2ll_rn(1e19) == std::numeric_limits<long long>::max());
  CHECK(__saturatef(2.0f) == 1);
  CHECK(__saturatef(-2.0f) == 0);
  CHECK(__saturatef(std::nanf("")) == 0);
}

TEST_CASE("math: min and max of CUDA's types") {
  CHECK(max(-1, 2u) == ~0u);
  CHECK(min(-1, 2u) == 2u);
  CHECK(max(3L, 2L) == 3);
  CHECK(max(std::nanf(""), 2.0f) == 2);
  CHECK(std::is_same_v<decltype(max(1.0f, 2.0)), double>);
  CHECK(std::is_same_v<decltype(min(1, 2u)), unsigned>);
  CHECK(std::is_same_v<decltype(min(1ull, 2ll)), unsigned long long>);
}

TEST_CASE("math: the names are found in a namespace") {
  float* data = nullptr;
  float value = 0.5f;
  cudaMalloc(&data, sizeof value);
  cudaMemcpy(data, &value, sizeof value, cudaMemcpyHostToDevice);
  launch(library::call, 1, 1, 0, nullptr, data);
  cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost);
  CHECK(value > 10);
  cudaFree(data);
}
