// The activations on vectors, for the kernels that apply them in passing. Highway includes it once a target.
#if defined(DNN_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_ACTIVATION_INL_H
#undef DNN_ACTIVATION_INL_H
#else
#define DNN_ACTIVATION_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <kernels/unary.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// f.operator()<op>(), the activation a constant; for those without parameters.
template <class F>
HWY_INLINE void with_activation(const UnaryParams& activation, F&& f) {
  switch (activation.op) {
    case UnaryOp::none:
      return f.template operator()<UnaryOp::none>();
    case UnaryOp::relu:
      return f.template operator()<UnaryOp::relu>();
    case UnaryOp::sigmoid:
      return f.template operator()<UnaryOp::sigmoid>();
    case UnaryOp::tanh:
      return f.template operator()<UnaryOp::tanh>();
    case UnaryOp::relu6:
      return f.template operator()<UnaryOp::relu6>();
    case UnaryOp::hardsigmoid:
      return f.template operator()<UnaryOp::hardsigmoid>();
    case UnaryOp::hardswish:
      return f.template operator()<UnaryOp::hardswish>();
    case UnaryOp::silu:
      return f.template operator()<UnaryOp::silu>();
    case UnaryOp::gelu:
      return f.template operator()<UnaryOp::gelu>();
    case UnaryOp::gelu_tanh:
      return f.template operator()<UnaryOp::gelu_tanh>();
    case UnaryOp::mish:
      return f.template operator()<UnaryOp::mish>();
    default:
      HWY_DASSERT(false);
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f), most = hn::Set(d, 88.0f);
  // Highway's Exp is not made for arguments that overflow, and the clamp would lose a NaN and the zero of -infinity.
  const V y = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Min(hn::Neg(x), most))));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElseZero(hn::Ge(x, hn::Neg(most)), y));
}

// min(max(x, least), most), a NaN kept.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clip(D d, V x, float least, float most) {
  const V bottom = hn::Set(d, least), top = hn::Set(d, most);
  x = hn::IfThenElse(hn::Lt(x, bottom), bottom, x);
  return hn::IfThenElse(hn::Gt(x, top), top, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V hardsigmoid(D d, V x) {
  return hn::Mul(clip(d, hn::Add(x, hn::Set(d, 3.0f)), 0.0f, 6.0f), hn::Set(d, 1.0f / 6));
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

// Twice the argument of gelu_tanh's tanh, of which (1 + tanh) / 2 is the sigmoid.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_tanh_argument(D d, V x) {
  const V square = hn::Mul(x, x);
  return hn::Mul(x, hn::MulAdd(square, hn::Set(d, 1.59576912f * 0.044715f), hn::Set(d, 1.59576912f)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_tanh_backward(D d, V x, V dy) {
  const V one = hn::Set(d, 1.0f), s = sigmoid(d, gelu_tanh_argument(d, x));
  // The square of a large x would be infinite where s * (1 - s) is 0.
  const V inner = clip(d, x, -16.0f, 16.0f), square = hn::Mul(inner, inner);
  const V growth = hn::MulAdd(square, hn::Set(d, 3 * 1.59576912f * 0.044715f), hn::Set(d, 1.59576912f));
  return hn::Mul(dy, hn::MulAdd(hn::Mul(inner, growth), hn::Mul(s, hn::Sub(one, s)), s));
}

// With e = exp(x) and n = e * (e + 2), tanh(log(1 + e)) is n / (n + 2). From kMostMish on it is 1 and its slope 0.
constexpr float kMostMish = 20.0f;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V mish(D d, V x) {
  const V two = hn::Set(d, 2.0f), e = hn::Exp(d, clip(d, x, -104.0f, kMostMish)), n = hn::Mul(e, hn::Add(e, two));
  return hn::Mul(x, hn::Div(n, hn::Add(n, two)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V mish_backward(D d, V x, V dy) {
  const V inner = clip(d, x, -104.0f, kMostMish);
  const V two = hn::Set(d, 2.0f), e = hn::Exp(d, inner), n = hn::Mul(e, hn::Add(e, two)), below = hn::Add(n, two);
  const V growth = hn::Div(hn::Mul(hn::Set(d, 4.0f), hn::MulAdd(e, e, e)), hn::Mul(below, below));
  return hn::Mul(dy, hn::MulAdd(inner, growth, hn::Div(n, below)));
}

// log(1 + exp(a x)) / a, without overflow: max(x, 0) + log1p(exp(-|a x|)) / a; with a negative a min(x, 0).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V softplus(D d, V x, V a) {
  const V zero = hn::Zero(d), below = hn::Max(hn::Neg(hn::Abs(hn::Mul(a, x))), hn::Set(d, -87.0f));
  const V limit = hn::IfThenElse(hn::Gt(a, zero), hn::Max(x, zero), hn::Min(x, zero));
  const V y = hn::Add(limit, hn::Div(hn::Log1p(d, hn::Exp(d, below)), a));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// a and b: see UnaryParams.
template <UnaryOp kOp, class D, class V = hn::Vec<D>>
HWY_INLINE V activate(D d, V x, float a = 0, float b = 0) {
  const V zero = hn::Zero(d);
  if constexpr (kOp == UnaryOp::relu) {
    return hn::IfThenElse(hn::Lt(x, zero), zero, x);  // keeps a NaN
  } else if constexpr (kOp == UnaryOp::sigmoid) {
    return sigmoid(d, x);
  } else if constexpr (kOp == UnaryOp::tanh) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
  } else if constexpr (kOp == UnaryOp::relu6) {
    return clip(d, x, 0.0f, 6.0f);
  } else if constexpr (kOp == UnaryOp::hardtanh) {
    return clip(d, x, a, b);
  } else if constexpr (kOp == UnaryOp::hardsigmoid) {
    return hardsigmoid(d, x);
  } else if constexpr (kOp == UnaryOp::hardswish) {
    return hn::Mul(x, hardsigmoid(d, x));
  } else if constexpr (kOp == UnaryOp::silu) {
    return hn::Mul(x, sigmoid(d, x));
  } else if constexpr (kOp == UnaryOp::swish) {
    return hn::Mul(x, sigmoid(d, hn::Mul(hn::Set(d, a), x)));
  } else if constexpr (kOp == UnaryOp::gelu) {
    return hn::Mul(x, normal_cdf(d, x));
  } else if constexpr (kOp == UnaryOp::gelu_tanh) {
    return hn::Mul(x, sigmoid(d, gelu_tanh_argument(d, x)));
  } else if constexpr (kOp == UnaryOp::mish) {
    return mish(d, x);
  } else if constexpr (kOp == UnaryOp::leaky_relu) {
    return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(hn::Set(d, a), x), x);
  } else if constexpr (kOp == UnaryOp::elu) {
    const V below = hn::Expm1(d, hn::Max(hn::Min(x, zero), hn::Set(d, -87.0f)));
    return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(hn::Set(d, a), below), x);
  } else if constexpr (kOp == UnaryOp::softplus) {
    return softplus(d, x, hn::Set(d, a));
  } else {
    static_assert(kOp == UnaryOp::none);
    return x;
  }
}

// dy * activation'(x), from saved = activation(x) where slope_from_output(kOp, a), else from saved = x.
template <UnaryOp kOp, class D, class V = hn::Vec<D>>
HWY_INLINE V activation_backward(D d, V saved, V dy, float a = 0, float b = 0) {
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0f);
  if constexpr (kOp == UnaryOp::relu) {
    return hn::IfThenZeroElse(hn::Le(saved, zero), dy);  // dy at a NaN, as torch
  } else if constexpr (kOp == UnaryOp::sigmoid) {
    return hn::Mul(dy, hn::Mul(saved, hn::Sub(one, saved)));
  } else if constexpr (kOp == UnaryOp::tanh) {
    return hn::Mul(dy, hn::NegMulAdd(saved, saved, one));
  } else if constexpr (kOp == UnaryOp::relu6) {
    return hn::IfThenZeroElse(hn::Or(hn::Le(saved, zero), hn::Ge(saved, hn::Set(d, 6.0f))), dy);
  } else if constexpr (kOp == UnaryOp::hardtanh) {
    return hn::IfThenZeroElse(hn::Or(hn::Le(saved, hn::Set(d, a)), hn::Ge(saved, hn::Set(d, b))), dy);
  } else if constexpr (kOp == UnaryOp::hardsigmoid) {
    return hn::IfThenElseZero(hn::And(hn::Gt(saved, zero), hn::Lt(saved, one)), hn::Mul(dy, hn::Set(d, 1.0f / 6)));
  } else if constexpr (kOp == UnaryOp::hardswish) {
    // 0 below -3, 1 above 3, (2 x + 3) / 6 between
    const V three = hn::Set(d, 3.0f);
    const V between = hn::MulAdd(saved, hn::Set(d, 1.0f / 3), hn::Set(d, 0.5f));
    const V slope = hn::IfThenElse(hn::Ge(saved, three), one, between);
    return hn::Mul(dy, hn::IfThenElse(hn::Le(saved, hn::Neg(three)), zero, slope));
  } else if constexpr (kOp == UnaryOp::silu) {
    const V s = sigmoid(d, saved);
    return hn::Mul(dy, hn::Mul(s, hn::MulAdd(saved, hn::Sub(one, s), one)));
  } else if constexpr (kOp == UnaryOp::swish) {
    const V scaled = hn::Mul(hn::Set(d, a), saved), s = sigmoid(d, scaled);
    return hn::Mul(dy, hn::Mul(s, hn::MulAdd(scaled, hn::Sub(one, s), one)));
  } else if constexpr (kOp == UnaryOp::gelu) {
    return hn::Mul(dy, hn::MulAdd(saved, normal_density(d, saved), normal_cdf(d, saved)));
  } else if constexpr (kOp == UnaryOp::gelu_tanh) {
    return gelu_tanh_backward(d, saved, dy);
  } else if constexpr (kOp == UnaryOp::mish) {
    return mish_backward(d, saved, dy);
  } else if constexpr (kOp == UnaryOp::leaky_relu) {
    return hn::IfThenElse(hn::Gt(saved, zero), dy, hn::Mul(dy, hn::Set(d, a)));
  } else if constexpr (kOp == UnaryOp::elu) {
    V below = hn::Add(saved, hn::Set(d, a));
    if (a < 0) {  // from the input
      const V growth = hn::Mul(hn::Set(d, a), hn::Exp(d, hn::Max(hn::Min(saved, zero), hn::Set(d, -87.0f))));
      below = hn::IfThenElse(hn::IsNaN(saved), saved, growth);
    }
    return hn::IfThenElse(hn::Gt(saved, zero), dy, hn::Mul(dy, below));
  } else if constexpr (kOp == UnaryOp::softplus) {
    return hn::Mul(dy, sigmoid(d, hn::Mul(hn::Set(d, a), saved)));
  } else {
    static_assert(kOp == UnaryOp::none);
    return dy;
  }
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
