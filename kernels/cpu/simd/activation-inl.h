// The activations on vectors, for the kernels that apply them in passing. Highway includes it once a target.
#if defined(DNN_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_ACTIVATION_INL_H
#undef DNN_ACTIVATION_INL_H
#else
#define DNN_ACTIVATION_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <kernels/epilogue.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Activation kActivation, class D, class V = hn::Vec<D>>
HWY_INLINE V activate(D d, V x) {
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0f);
  if constexpr (kActivation == Activation::relu) {
    return hn::IfThenElse(hn::Lt(x, zero), zero, x);  // keeps a NaN
  } else if constexpr (kActivation == Activation::sigmoid) {
    // Highway's Exp is not made for arguments that overflow, and the clamp would lose a NaN.
    const V y = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, 88.0f)))));
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  } else if constexpr (kActivation == Activation::tanh) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
  } else {
    return x;
  }
}

// dy * activation'(x), from y = activation(x).
template <Activation kActivation, class D, class V = hn::Vec<D>>
HWY_INLINE V activation_backward(D d, V y, V dy) {
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0f);
  if constexpr (kActivation == Activation::relu) {
    return hn::IfThenElseZero(hn::Gt(y, zero), dy);
  } else if constexpr (kActivation == Activation::sigmoid) {
    return hn::Mul(dy, hn::Mul(y, hn::Sub(one, y)));
  } else if constexpr (kActivation == Activation::tanh) {
    return hn::Mul(dy, hn::NegMulAdd(y, y, one));
  } else {
    return dy;
  }
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
