// Random fills; kernels/philox.h says which random word an element takes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <numbers>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/philox-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Words = hn::Vec<PhiloxWords::D>;

// The upper 24 bits of each word plus `offset`, over 2^24.
HWY_INLINE V uniform(Words words, uint32_t offset) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::Add(hn::ShiftRight<8>(words), hn::Set(PhiloxWords::D(), offset));
  return hn::Mul(hn::ConvertTo(D(), hn::BitCast(di, bits)), hn::Set(D(), 0x1p-24f));
}

// y = f(words) for the elements [range.begin, range.end) of a fill, where range.begin is a multiple of 4; f gives the
// elements of kVectors vectors of words.
template <class F>
HWY_INLINE void random_loop(Range range, RandomState state, float* y, F&& f) {
  const PhiloxWords random(state);
  Words words[PhiloxWords::kVectors];
  for (int64_t i = range.begin; i < range.end; i += PhiloxWords::kWords) {
    random(static_cast<uint64_t>(i / 4), words);
    float last[PhiloxWords::kWords];
    const bool whole = range.end - i >= PhiloxWords::kWords;
    f(words, whole ? y + i : last);
    if (!whole) std::copy_n(last, range.end - i, y + i);
  }
}

void uniform_chunk(Range range, float low, float high, RandomState state, float* y) {
  const float most = std::max(low, std::nextafter(high, low));
  random_loop(range, state, y, [=](const Words(&words)[PhiloxWords::kVectors], float* to) HWY_ATTR {
    const D d;
#pragma GCC unroll 4
    for (size_t j = 0; j < PhiloxWords::kVectors; ++j) {
      const V scaled = hn::Mul(hn::Set(d, high - low), uniform(words[j], 0));
      hn::StoreU(hn::Min(hn::Add(hn::Set(d, low), scaled), hn::Set(d, most)), d, to + j * hn::Lanes(d));
    }
  });
}

#if HWY_TARGET == HWY_SCALAR

void normal_chunk(Range range, float mean, float std, RandomState state, float* y) {
  random_loop(range, state, y, [=](const Words(&words)[PhiloxWords::kVectors], float* to) {
    for (int j = 0; j < PhiloxWords::kVectors; j += 2) {
      const float u1 = hn::GetLane(uniform(words[j], 1)), u2 = hn::GetLane(uniform(words[j + 1], 0));
      const float r = std * std::sqrt(-2 * std::log(u1)), angle = 2 * std::numbers::pi_v<float> * u2;
      to[j] = mean + r * std::cos(angle);
      to[j + 1] = mean + r * std::sin(angle);
    }
  });
}

#else

// Box and Muller: u1 from the even words, u2 from the odd ones; r cos(2 pi u2) in the even lanes, r sin(2 pi u2) in the
// odd ones. u2 is taken to [-1/2, 1/2), where 2 pi u2 rounds less.
void normal_chunk(Range range, float mean, float std, RandomState state, float* y) {
  random_loop(range, state, y, [=](const Words(&words)[PhiloxWords::kVectors], float* to) HWY_ATTR {
    const D d;
    for (size_t j = 0; j < PhiloxWords::kVectors; ++j) {
      const V u1 = uniform(hn::DupEven(words[j]), 1), u2 = uniform(hn::DupOdd(words[j]), 0);
      const V r = hn::Sqrt(hn::Mul(hn::Set(d, -2.0f), hn::Log(d, u1)));
      const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
      const V turn = hn::Sub(u2, hn::IfThenElseZero(hn::Ge(u2, half), one));
      const V angle = hn::Mul(hn::Set(d, 2 * std::numbers::pi_v<float>), turn);
      const V z = hn::Mul(r, hn::OddEven(hn::Sin(d, angle), hn::Cos(d, angle)));
      hn::StoreU(hn::MulAdd(hn::Set(d, std), z, hn::Set(d, mean)), d, to + j * hn::Lanes(d));
    }
  });
}

#endif

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void fill_uniform(Context& context, int64_t count, float low, float high, RandomState state, float* y) {
  const auto chunk_loop = DNN_PER_ISA(uniform_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(line_range(count, chunks, chunk), low, high, state, y); });
}

void fill_normal(Context& context, int64_t count, float mean, float std, RandomState state, float* y) {
  const auto chunk_loop = DNN_PER_ISA(normal_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements / 4);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(line_range(count, chunks, chunk), mean, std, state, y); });
}

}  // namespace dnn::cpu
#endif
