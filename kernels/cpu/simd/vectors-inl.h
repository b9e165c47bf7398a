// Loops over vectors and their stores, for kernels that are bound by memory. Highway includes it once a target.
#if defined(DNN_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_VECTORS_INL_H
#undef DNN_VECTORS_INL_H
#else
#define DNN_VECTORS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// f(d, i) for every i of [0, count) in steps of Lanes(d): whole vectors, then four lanes, then one.
template <class F>
HWY_INLINE void for_vectors(int64_t count, F&& f) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) f(d, i);
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> d4;
  for (; i + 4 <= count; i += 4) f(d4, i);
  const hn::CappedTag<float, 1> d1;
  for (; i < count; ++i) f(d1, i);
#endif
}

// The sum of f(d, i) over [0, count), where f gives a vector. In float: for some thousands of values at a time. kSums
// running sums hide the latency of an addition where f is little work.
template <int kSums = 1, class F>
HWY_INLINE float sum_vectors(int64_t count, F&& f) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kSums];
  for (auto& sum : sums) sum = hn::Zero(d);
  int64_t i = 0;
  if constexpr (kSums > 1) {
    for (; i + kSums * lanes <= count; i += kSums * lanes) {
#pragma GCC unroll 8
      for (int j = 0; j < kSums; ++j) sums[j] = hn::Add(sums[j], f(d, i + j * lanes));
    }
#pragma GCC unroll 8
    for (int j = 1; j < kSums; ++j) sums[0] = hn::Add(sums[0], sums[j]);
  }
  for (; i + lanes <= count; i += lanes) sums[0] = hn::Add(sums[0], f(d, i));
  float sum = hn::GetLane(hn::SumOfLanes(d, sums[0]));
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> d4;
  for (; i + 4 <= count; i += 4) sum += hn::GetLane(hn::SumOfLanes(d4, f(d4, i)));
  const hn::CappedTag<float, 1> d1;
  for (; i < count; ++i) sum += hn::GetLane(f(d1, i));
#endif
  return sum;
}

// The sum of f(d, i) over any length: in float over a block that stays in L1, in double over the blocks.
template <int kSums = 1, class F>
HWY_INLINE double sum_blocks(int64_t count, F&& f) {
  constexpr int64_t kBlock = 4096;
  double sum = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    sum += sum_vectors<kSums>(std::min(kBlock, count - begin),
                              [&](auto d, int64_t i) HWY_ATTR { return f(d, begin + i); });
  }
  return sum;
}

// Stores past the caches where kStream; y must then be aligned for whole vectors, see worth_streaming().
template <bool kStream, class D, class V = hn::Vec<D>>
HWY_INLINE void store(V v, D d, float* y) {
  if constexpr (kStream && hn::MaxLanes(D()) == hn::MaxLanes(hn::ScalableTag<float>())) {
    hn::Stream(v, d, y);
  } else {
    hn::StoreU(v, d, y);
  }
}

// Ends a loop of such stores.
template <bool kStream>
HWY_INLINE void flush() {
  if constexpr (kStream) hwy::FlushStream();
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
