// Powers on vectors. Highway includes it once a target.
#if defined(DNN_POWER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_POWER_INL_H
#undef DNN_POWER_INL_H
#else
#define DNN_POWER_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include <kernels/cpu/power_plan.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// f(lane) for each lane.
template <class D, class V, class F>
HWY_INLINE V for_each_lane(D d, V v, F&& f) {
  HWY_ALIGN float values[hn::MaxLanes(D())];
  hn::Store(v, d, values);
  for (size_t i = 0; i < hn::Lanes(d); ++i) values[i] = f(values[i]);
  return hn::Load(d, values);
}

// exp(power * log|b|), in double, which leaves no error in the float result; then the cases where b has no logarithm,
// as std::pow has them, which computes those of an infinite power.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power_by_logarithm(D d, V b, double power) {
  if (HWY_TARGET == HWY_SCALAR || !std::isfinite(power)) {
    return for_each_lane(d, b, [=](float lane) { return static_cast<float>(std::pow(double{lane}, power)); });
  }
  const V size = hn::Abs(b), zero = hn::Zero(d), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  HWY_ALIGN float values[hn::MaxLanes(D())];
  hn::Store(hn::IfThenElse(hn::And(hn::Gt(size, zero), hn::Lt(size, infinity)), size, hn::Set(d, 1.0f)), d, values);
  const hn::CappedTag<double, hn::MaxLanes(D())> dd;
  const hn::Rebind<float, decltype(dd)> df;
  for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(dd)) {
    const auto exponent = hn::Mul(hn::Log(dd, hn::PromoteTo(dd, hn::LoadU(df, values + i))), hn::Set(dd, power));
    const auto within = hn::Min(hn::Max(exponent, hn::Set(dd, -300.0)), hn::Set(dd, 300.0));
    hn::StoreU(hn::DemoteTo(df, hn::Exp(dd, within)), df, values + i);
  }
  V result = hn::Load(d, values);
  result = hn::IfThenElse(hn::Eq(size, zero), power > 0 ? zero : infinity, result);
  result = hn::IfThenElse(hn::Eq(size, infinity), power > 0 ? infinity : zero, result);
  const bool whole = std::floor(power) == power, even = std::fmod(power, 2) == 0;
  if (whole && !even) {
    result = hn::CopySign(result, b);
  } else if (!whole) {
    result = hn::IfThenElse(hn::And(hn::Lt(b, zero), hn::Lt(size, infinity)), hn::Set(d, std::nanf("")), result);
  }
  return hn::IfThenElse(hn::IsNaN(b), b, result);
}

// a ^ b as std::pow, which computes what has no logarithm.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V pow(D d, V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, std::pow(hn::GetLane(a), hn::GetLane(b)));
#else
  const V zero = hn::Zero(d), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto plain = hn::And(hn::And(hn::Gt(a, zero), hn::Lt(a, infinity)), hn::Lt(hn::Abs(b), infinity));
  HWY_ALIGN float bases[hn::MaxLanes(D())], powers[hn::MaxLanes(D())], results[hn::MaxLanes(D())];
  hn::Store(hn::IfThenElse(plain, a, hn::Set(d, 1.0f)), d, bases);
  hn::Store(hn::IfThenElseZero(plain, b), d, powers);
  const hn::CappedTag<double, hn::MaxLanes(D())> dd;
  const hn::Rebind<float, decltype(dd)> df;
  for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(dd)) {
    const auto logarithm = hn::Log(dd, hn::PromoteTo(dd, hn::LoadU(df, bases + i)));
    const auto exponent = hn::Mul(logarithm, hn::PromoteTo(dd, hn::LoadU(df, powers + i)));
    const auto within = hn::Min(hn::Max(exponent, hn::Set(dd, -300.0)), hn::Set(dd, 300.0));
    hn::StoreU(hn::DemoteTo(df, hn::Exp(dd, within)), df, results + i);
  }
  if (!hn::AllTrue(d, plain)) {
    hn::Store(a, d, bases);
    hn::Store(b, d, powers);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      const bool logarithm = bases[i] > 0 && std::isfinite(bases[i]) && std::isfinite(powers[i]);
      if (!logarithm) results[i] = std::pow(bases[i], powers[i]);
    }
  }
  return hn::Load(d, results);
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V power(D d, V b, const PowerPlan& plan) {
  if (!plan.by_roots) return power_by_logarithm(d, b, plan.power);
  V result = hn::Set(d, 1.0f);
  if (plan.quarters > 0) {
    const V root = hn::Sqrt(b);
    if (plan.quarters >= 2) result = root;
    if (plan.quarters != 2) result = hn::Mul(result, hn::Sqrt(root));
  }
  V square = b;
  for (int bits = plan.whole; bits > 0; bits /= 2, square = hn::Mul(square, square)) {
    if (bits % 2 != 0) result = hn::Mul(result, square);
  }
  return plan.inverse ? hn::Div(hn::Set(d, 1.0f), result) : result;
}

// power() for any b, as std::pow: roots take -infinity for infinity and -0 for 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power_of_any(D d, V b, const PowerPlan& plan) {
  if (plan.by_roots && plan.quarters > 0) {
    const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    b = hn::Add(hn::IfThenElse(hn::Eq(b, hn::Neg(infinity)), infinity, b), hn::Zero(d));
  }
  return power(d, b, plan);
}

// 1 / sqrt(b) for b from the smallest normal number to half the largest.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal_sqrt(D d, V b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(b));
#else
  const V r = hn::ApproximateReciprocalSqrt(b);
  return hn::Mul(r, hn::NegMulAdd(hn::Mul(hn::Mul(b, hn::Set(d, 0.5f)), r), r, hn::Set(d, 1.5f)));
#endif
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
