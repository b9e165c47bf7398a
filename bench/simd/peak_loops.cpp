// Two loops that no kernel can beat: independent multiply-adds in registers, and a copy.
#include <bench/simd/peak_loops.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/simd/peak_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two units with a latency of 4 to 5 cycles need 8 to 10 sums at work; 12 fit 16 registers with both factors.
double fma(int64_t rounds) {
  constexpr int kSums = 12;
  const hn::ScalableTag<float> d;
  volatile float factor_value = 0.999999f, term_value = 1e-7f;
  const auto factor = hn::Set(d, factor_value), term = hn::Set(d, term_value);
  hn::Vec<decltype(d)> sum[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) sum[i] = hn::Set(d, static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sum[i] = hn::MulAdd(sum[i], factor, term);
  }
  auto total = sum[0];
#pragma GCC unroll 16
  for (int i = 1; i < kSums; ++i) total = hn::Add(total, sum[i]);
  volatile float sink = hn::GetLane(total);
  (void)sink;
  return 2.0 * kSums * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

void copy(int64_t count, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + lanes);
    const auto e = hn::LoadU(d, x + i + 2 * lanes), f = hn::LoadU(d, x + i + 3 * lanes);
    hn::StoreU(a, d, y + i);
    hn::StoreU(b, d, y + i + lanes);
    hn::StoreU(e, d, y + i + 2 * lanes);
    hn::StoreU(f, d, y + i + 3 * lanes);
  }
  for (; i < count; ++i) y[i] = x[i];
}

constexpr PeakLoops peak_loops{fma, copy};

}  // namespace dnn::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::bench {

const cpu::PerIsa<PeakLoops> peak_loops{N_SCALAR::peak_loops, N_AVX2::peak_loops, N_AVX3::peak_loops};

}  // namespace dnn::bench
#endif
