// y = x / (1 - p) where the element's 16 random bits are at least p * 65536, else 0; kernels/philox.h says which bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/philox-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

template <bool kStream>
void dropout_loop(Range range, uint32_t threshold, float scale, RandomState state, const float* x, float* y) {
  for (int64_t i = range.begin; i < range.end; i += 8) {
    const PhiloxBlock block = philox_block(state, static_cast<uint64_t>(i / 8));
    for (int half = 0; half < std::min<int64_t>(8, range.end - i); ++half) {
      y[i + half] = philox_half(block, half) >= threshold ? x[i + half] * scale : 0.0f;
    }
  }
}

#else

// The elements of one vector of random words: twice as many, as a word has two halves, the lower one first.
template <bool kStream, class Words>
HWY_INLINE void drop(Words words, uint16_t threshold, float scale, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<uint16_t> d16;
  const hn::Half<hn::ScalableTag<int16_t> > half;
  const hn::ScalableTag<int32_t> di;
  const auto halves = hn::BitCast(d16, words);
  const auto kept = hn::VecFromMask(d16, hn::Eq(hn::Max(halves, hn::Set(d16, threshold)), halves));
  const auto kept16 = hn::BitCast(hn::ScalableTag<int16_t>(), kept);
  const auto lower = hn::PromoteTo(di, hn::LowerHalf(half, kept16));  // the sign fills the mask of 32 bits
  const auto upper = hn::PromoteTo(di, hn::UpperHalf(half, kept16));
  const auto store_kept = [&](auto mask, int64_t at) HWY_ATTR {
    const auto v = hn::Mul(hn::LoadU(d, x + at), hn::Set(d, scale));
    store<kStream>(hn::And(hn::BitCast(d, mask), v), d, y + at);
  };
  store_kept(lower, 0);
  store_kept(upper, hn::Lanes(d));
}

// range.begin is a multiple of 8.
template <bool kStream>
void dropout_loop(Range range, uint32_t threshold, float scale, RandomState state, const float* x, float* y) {
  constexpr int64_t kElements = 2 * PhiloxWords::kWords, kAtOnce = kElements / PhiloxWords::kVectors;
  const PhiloxWords random(state);
  const uint16_t threshold16 = static_cast<uint16_t>(threshold);
  hn::Vec<PhiloxWords::D> words[PhiloxWords::kVectors];
  int64_t i = range.begin;
  for (; i + kElements <= range.end; i += kElements) {
    random(static_cast<uint64_t>(i / 8), words);
#pragma GCC unroll 4
    for (int j = 0; j < PhiloxWords::kVectors; ++j) {
      drop<kStream>(words[j], threshold16, scale, x + i + j * kAtOnce, y + i + j * kAtOnce);
    }
  }
  flush<kStream>();
  if (i == range.end) return;
  float last[kElements] = {};
  std::copy(x + i, x + range.end, last);
  random(static_cast<uint64_t>(i / 8), words);
  for (int j = 0; j < PhiloxWords::kVectors; ++j) {
    drop<false>(words[j], threshold16, scale, last + j * kAtOnce, last + j * kAtOnce);
  }
  std::copy_n(last, range.end - i, y + i);
}

#endif

void dropout_chunk(bool stream, Range range, uint32_t threshold, float scale, RandomState state, const float* x,
                   float* y) {
  stream ? dropout_loop<true>(range, threshold, scale, state, x, y)
         : dropout_loop<false>(range, threshold, scale, state, x, y);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void dropout(Context& context, int64_t count, float p, RandomState state, const float* x, float* y) {
  const uint32_t threshold = dropout_threshold(p);
  if (threshold > 0xFFFF) return fill(context, sizeof(float), count, 0, y);
  const auto chunk_loop = DNN_PER_ISA(dropout_chunk)[context];
  const float scale = 1.0f / (1.0f - p);
  const int64_t chunks = chunk_count(count, kChunkElements);
  const bool stream = x != y && worth_streaming(y, count);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    chunk_loop(stream, line_range(count, chunks, chunk), threshold, scale, state, x, y);
  });
}

}  // namespace dnn::cpu
#endif
