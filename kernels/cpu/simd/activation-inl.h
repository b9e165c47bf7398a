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

// f.operator()<activation>(), the activation a constant; for those without alpha.
template <class F>
HWY_INLINE void with_activation(Activation activation, F&& f) {
  switch (activation) {
    case Activation::none:
      return f.template operator()<Activation::none>();
    case Activation::relu:
      return f.template operator()<Activation::relu>();
    case Activation::sigmoid:
      return f.template operator()<Activation::sigmoid>();
    case Activation::tanh:
      return f.template operator()<Activation::tanh>();
    case Activation::relu6:
      return f.template operator()<Activation::relu6>();
    case Activation::hardsigmoid:
      return f.template operator()<Activation::hardsigmoid>();
    case Activation::hardswish:
      return f.template operator()<Activation::hardswish>();
    case Activation::silu:
      return f.template operator()<Activation::silu>();
    case Activation::gelu:
      return f.template operator()<Activation::gelu>();
    case Activation::leaky_relu:
    case Activation::elu:
    case Activation::softplus:
      break;
  }
  HWY_DASSERT(false);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f), most = hn::Set(d, 88.0f);
  // Highway's Exp is not made for arguments that overflow, and the clamp would lose a NaN and the zero of -infinity.
  const V y = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Min(hn::Neg(x), most))));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElseZero(hn::Ge(x, hn::Neg(most)), y));
}

// min(max(x, 0), most), a NaN kept.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clip(D d, V x, float most) {
  const V zero = hn::Zero(d), top = hn::Set(d, most);
  x = hn::IfThenElse(hn::Lt(x, zero), zero, x);
  return hn::IfThenElse(hn::Gt(x, top), top, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V hardsigmoid(D d, V x) {
  return hn::Mul(clip(d, hn::Add(x, hn::Set(d, 3.0f)), 6.0f), hn::Set(d, 1.0f / 6));
}

// exp(-x^2 / 2) / sqrt(2 pi)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_density(D d, V x) {
  const V exponent = hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)), least = hn::Set(d, -87.0f);
  const V density = hn::Mul(hn::Exp(d, hn::Max(exponent, least)), hn::Set(d, 0.39894228f));
  return hn::IfThenElse(hn::Lt(exponent, least), hn::Zero(d), density);
}

// The normal distribution function, (1 + erf(x / sqrt(2))) / 2. Below zero it is exp(-x^2 / 2) times a polynomial
// in t = 1 / (1 + 0.21 |x|), the form of Abramowitz and Stegun 7.1.26, fitted here to a relative error of 1.7e-8.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_cdf(D d, V x) {
  constexpr float kTerms[] = {0.0837115003f, 0.0850700494f, 0.0691841795f, 0.124902411f,  -0.0939920519f,
                              0.34949454f,   -0.330332881f, 0.283626141f,  -0.0716638804f};
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Div(one, hn::MulAdd(hn::Abs(x), hn::Set(d, 0.21f), one));
  V sum = hn::Set(d, kTerms[8]);
  for (int i = 7; i >= 0; --i) sum = hn::MulAdd(sum, t, hn::Set(d, kTerms[i]));
  const V exponent = hn::Max(hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)), hn::Set(d, -87.0f));
  const V tail = hn::Mul(hn::Exp(d, exponent), hn::Mul(sum, t));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
}

template <Activation kActivation, class D, class V = hn::Vec<D>>
HWY_INLINE V activate(D d, V x) {
  const V zero = hn::Zero(d);
  if constexpr (kActivation == Activation::relu) {
    return hn::IfThenElse(hn::Lt(x, zero), zero, x);  // keeps a NaN
  } else if constexpr (kActivation == Activation::sigmoid) {
    return sigmoid(d, x);
  } else if constexpr (kActivation == Activation::tanh) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
  } else if constexpr (kActivation == Activation::relu6) {
    return clip(d, x, 6.0f);
  } else if constexpr (kActivation == Activation::hardsigmoid) {
    return hardsigmoid(d, x);
  } else if constexpr (kActivation == Activation::hardswish) {
    return hn::Mul(x, hardsigmoid(d, x));
  } else if constexpr (kActivation == Activation::silu) {
    return hn::Mul(x, sigmoid(d, x));
  } else if constexpr (kActivation == Activation::gelu) {
    return hn::Mul(x, normal_cdf(d, x));
  } else {
    return x;
  }
}

// dy * activation'(x), from saved = activation(x) where slope_from_output(kActivation), else from saved = x.
template <Activation kActivation, class D, class V = hn::Vec<D>>
HWY_INLINE V activation_backward(D d, V saved, V dy) {
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0f);
  if constexpr (kActivation == Activation::relu) {
    return hn::IfThenZeroElse(hn::Le(saved, zero), dy);  // dy at a NaN, as torch
  } else if constexpr (kActivation == Activation::sigmoid) {
    return hn::Mul(dy, hn::Mul(saved, hn::Sub(one, saved)));
  } else if constexpr (kActivation == Activation::tanh) {
    return hn::Mul(dy, hn::NegMulAdd(saved, saved, one));
  } else if constexpr (kActivation == Activation::relu6) {
    return hn::IfThenZeroElse(hn::Or(hn::Le(saved, zero), hn::Ge(saved, hn::Set(d, 6.0f))), dy);
  } else if constexpr (kActivation == Activation::hardsigmoid) {
    return hn::IfThenElseZero(hn::And(hn::Gt(saved, zero), hn::Lt(saved, one)), hn::Mul(dy, hn::Set(d, 1.0f / 6)));
  } else if constexpr (kActivation == Activation::hardswish) {
    // 0 below -3, 1 above 3, (2 x + 3) / 6 between
    const V three = hn::Set(d, 3.0f);
    const V between = hn::MulAdd(saved, hn::Set(d, 1.0f / 3), hn::Set(d, 0.5f));
    const V slope = hn::IfThenElse(hn::Ge(saved, three), one, between);
    return hn::Mul(dy, hn::IfThenElse(hn::Le(saved, hn::Neg(three)), zero, slope));
  } else if constexpr (kActivation == Activation::silu) {
    const V s = sigmoid(d, saved);
    return hn::Mul(dy, hn::Mul(s, hn::MulAdd(saved, hn::Sub(one, s), one)));
  } else if constexpr (kActivation == Activation::gelu) {
    return hn::Mul(dy, hn::MulAdd(saved, normal_density(d, saved), normal_cdf(d, saved)));
  } else {
    return dy;
  }
}

// log(1 + exp(a x)) / a, without overflow: max(x, 0) + log1p(exp(-|a x|)) / a; with a negative a min(x, 0).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V softplus(D d, V x, V a) {
  const V zero = hn::Zero(d), below = hn::Max(hn::Neg(hn::Abs(hn::Mul(a, x))), hn::Set(d, -87.0f));
  const V limit = hn::IfThenElse(hn::Gt(a, zero), hn::Max(x, zero), hn::Min(x, zero));
  const V y = hn::Add(limit, hn::Div(hn::Log1p(d, hn::Exp(d, below)), a));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// The three with alpha.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V activate(D d, Activation activation, float alpha, V x) {
  const V a = hn::Set(d, alpha);
  if (activation == Activation::softplus) return softplus(d, x, a);
  const V below = activation == Activation::elu
                      ? hn::Mul(a, hn::Expm1(d, hn::Max(hn::Min(x, hn::Zero(d)), hn::Set(d, -87.0f))))
                      : hn::Mul(a, x);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V activation_backward(D d, Activation activation, float alpha, V saved, V dy) {
  const V a = hn::Set(d, alpha);
  if (activation == Activation::softplus) return hn::Mul(dy, sigmoid(d, hn::Mul(a, saved)));
  const V zero = hn::Zero(d);
  V below = a;
  if (activation == Activation::elu && alpha >= 0) {
    below = hn::Add(saved, a);
  } else if (activation == Activation::elu) {  // from the input
    const V growth = hn::Mul(a, hn::Exp(d, hn::Max(hn::Min(saved, zero), hn::Set(d, -87.0f))));
    below = hn::IfThenElse(hn::IsNaN(saved), saved, growth);
  }
  return hn::IfThenElse(hn::Gt(saved, zero), dy, hn::Mul(dy, below));
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
