// Functions of numbers on vectors, right for all floats: Highway's hold in part of the range alone, and lose a NaN.
// Highway includes it once a target.
#if defined(DNN_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_MATH_INL_H
#undef DNN_MATH_INL_H
#else
#define DNN_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include <kernels/cpu/simd/activation-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

constexpr float kMostExp = 89.0f;  // whose exp is infinite

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, hn::Min(x, hn::Set(d, kMostExp))));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_of(D d, V x) {
  const V within = hn::Min(hn::Max(x, hn::Set(d, -88.0f)), hn::Set(d, kMostExp));
  // Of the smallest numbers Highway's gives 0.
  const V y = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-8f)), x, hn::Expm1(d, within));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// log(x) and log1p(x) from `y`, Highway's, where x has a logarithm; `zero` is where that is minus infinity.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V logarithm(D d, V x, V zero, V y) {
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Ge(x, zero), y, hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of(D d, V x) {
  return logarithm(d, x, hn::Zero(d), hn::Log(d, x));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log1p_of(D d, V x) {
  const V y = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-8f)), x, hn::Log1p(d, x));
  return logarithm(d, x, hn::Set(d, -1.0f), y);
}

// f(x) of the C library for the elements that are beyond `most`, or NaN.
template <class D, class F, class V = hn::Vec<D>>
HWY_INLINE V libm_beyond(D d, V x, float most, V y, F&& f) {
  const auto within = hn::Le(hn::Abs(x), hn::Set(d, most));
  if (HWY_LIKELY(hn::AllTrue(d, within))) return y;
  HWY_ALIGN float values[hn::MaxLanes(D())];
  hn::Store(x, d, values);
  for (size_t i = 0; i < hn::Lanes(d); ++i) values[i] = f(values[i]);
  return hn::IfThenElse(within, y, hn::Load(d, values));
}

constexpr float kMostSin = 30000.0f;  // Highway's hold up to 39000

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sin_of(D d, V x) {
  const V within = hn::IfThenElseZero(hn::Le(hn::Abs(x), hn::Set(d, kMostSin)), x);
  return libm_beyond(d, x, kMostSin, hn::Sin(d, within), [](float v) { return std::sin(v); });
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V cos_of(D d, V x) {
  const V within = hn::IfThenElseZero(hn::Le(hn::Abs(x), hn::Set(d, kMostSin)), x);
  return libm_beyond(d, x, kMostSin, hn::Cos(d, within), [](float v) { return std::cos(v); });
}

// Near 0 the series x * (1 - x^2 / 3 + x^4 / 10 - ...) * 2 / sqrt(pi), else by the tail of the normal distribution.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf_of(D d, V x) {
  constexpr int kTerms = 10;
  const V square = hn::Mul(x, x), size = hn::Min(hn::Abs(x), hn::Set(d, 5.0f));
  V series = hn::Zero(d);
  float factorial = 362880;  // of kTerms - 1
  for (int n = kTerms - 1; n >= 0; --n) {
    const float term = 1.12837917f / (factorial * static_cast<float>(2 * n + 1));
    series = hn::MulAdd(series, square, hn::Set(d, n % 2 == 0 ? term : -term));
    factorial /= static_cast<float>(n > 0 ? n : 1);
  }
  const V tail = normal_cdf(d, hn::Mul(size, hn::Set(d, -1.41421356f)));
  const V far = hn::CopySign(hn::NegMulAdd(hn::Set(d, 2.0f), tail, hn::Set(d, 1.0f)), x);
  const V y = hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.75f)), hn::Mul(series, x), far);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// exp(-x^2). The square is taken in two parts, as its rounding would show in the result.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_negative_square(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V size = hn::Min(hn::Abs(x), hn::Set(d, 10.0f));
  const V high = hn::BitCast(d, hn::And(hn::BitCast(du, size), hn::Set(du, 0xFFFFF000u)));
  const V low = hn::Mul(hn::Sub(size, high), hn::Add(size, high));
  const V y = hn::Mul(hn::Exp(d, hn::Neg(hn::Mul(high, high))), hn::Exp(d, hn::Neg(low)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
