// The steps of a softmax over one row, for the kernels built on it. Highway includes it once a target.
#if defined(DNN_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_SOFTMAX_INL_H
#undef DNN_SOFTMAX_INL_H
#else
#define DNN_SOFTMAX_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include <kernels/cpu/simd/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

// exp(x) for x <= 0; Highway's makes 0 of a NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_negative(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

// The largest of a row, or anything where the row holds a NaN.
inline float largest_of(int64_t count, const float* x) {
  const hn::ScalableTag<float> d;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  auto largest = hn::Set(d, kLowest);
  float rest = kLowest;
  for_vectors(count, [&](auto tag, int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(tag, x + i);
    if constexpr (hn::MaxLanes(tag) == hn::MaxLanes(d)) {
      largest = hn::Max(largest, v);
    } else {
      rest = std::max(rest, hn::GetLane(hn::MaxOfLanes(tag, v)));
    }
  });
  return std::max(rest, hn::GetLane(hn::MaxOfLanes(d, largest)));
}

// y = exp(x - largest); returns the sum of y.
inline double exp_row(int64_t count, float largest, const float* x, float* y) {
  return sum_blocks(count, [&](auto d, int64_t i) HWY_ATTR {
    const auto e = exp_of_negative(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest)));
    hn::StoreU(e, d, y + i);
    return e;
  });
}

// The same sum alone.
inline double exp_sum(int64_t count, float largest, const float* x) {
  return sum_blocks(count, [&](auto d, int64_t i) HWY_ATTR {
    return exp_of_negative(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest)));
  });
}

inline void scale_row(int64_t count, float scale, float* y) {
  for_vectors(count, [&](auto d, int64_t i)
                         HWY_ATTR { hn::StoreU(hn::Mul(hn::Set(d, scale), hn::LoadU(d, y + i)), d, y + i); });
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
