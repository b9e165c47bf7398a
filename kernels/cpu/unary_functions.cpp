// The loops of the unary functions that are no activations.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/unary_functions.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/power_plan.h>
#include <kernels/cpu/simd/math-inl.h>
#include <kernels/cpu/simd/power-inl.h>
#include <kernels/cpu/simd/unary_loops-inl.h>
#include <kernels/cpu/unary.h>

// For functions so long that the compiler would call them for every vector.
#define DNN_ALWAYS_INLINE __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sign(D d, V x) {
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  return hn::IfThenElse(hn::Gt(x, zero), one, hn::IfThenElseZero(hn::Lt(x, zero), hn::Neg(one)));
}

void function_forward_chunk(const UnaryParams& params, bool stream, int64_t count, const float* x, float* y) {
  const float a = static_cast<float>(params.a), b = static_cast<float>(params.b), c = static_cast<float>(params.c);
  const auto run = [=](auto f) HWY_ATTR { forward_loop(stream, count, x, y, f); };
  switch (params.op) {
    case UnaryOp::affine:
      return run([=](auto d, auto v) HWY_ATTR { return hn::MulAdd(hn::Set(d, a), v, hn::Set(d, b)); });
    case UnaryOp::divide:
      return run([=](auto d, auto v) HWY_ATTR { return hn::Div(v, hn::Set(d, a)); });
    case UnaryOp::reciprocal:
      return run([=](auto d, auto v) HWY_ATTR { return hn::Div(hn::Set(d, a), v); });
    case UnaryOp::pow:
      return run([=, plan = PowerPlan(params.a)](auto d, auto v) HWY_ATTR DNN_ALWAYS_INLINE {
        return power_of_any(d, hn::MulAdd(hn::Set(d, b), v, hn::Set(d, c)), plan);
      });
    case UnaryOp::square:
      return run([](auto, auto v) HWY_ATTR { return hn::Mul(v, v); });
    case UnaryOp::clamp:
      return run([=](auto d, auto v) HWY_ATTR { return clip(d, v, a, b); });
    case UnaryOp::abs:
      return run([](auto, auto v) HWY_ATTR { return hn::Abs(v); });
    case UnaryOp::neg:
      return run([](auto, auto v) HWY_ATTR { return hn::Neg(v); });
    case UnaryOp::sign:
      return run([](auto d, auto v) HWY_ATTR { return sign(d, v); });
    case UnaryOp::floor:
      return run([](auto, auto v) HWY_ATTR { return hn::Floor(v); });
    case UnaryOp::ceil:
      return run([](auto, auto v) HWY_ATTR { return hn::Ceil(v); });
    case UnaryOp::round:
      return run([](auto, auto v) HWY_ATTR { return hn::Round(v); });
    case UnaryOp::exp:
      return run([](auto d, auto v) HWY_ATTR { return exp_of(d, v); });
    case UnaryOp::expm1:
      return run([](auto d, auto v) HWY_ATTR { return expm1_of(d, v); });
    case UnaryOp::log:
      return run([](auto d, auto v) HWY_ATTR { return log_of(d, v); });
    case UnaryOp::log1p:
      return run([](auto d, auto v) HWY_ATTR { return log1p_of(d, v); });
    case UnaryOp::sqrt:
      return run([](auto, auto v) HWY_ATTR { return hn::Sqrt(v); });
    case UnaryOp::rsqrt:
      return run([](auto d, auto v) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(v)); });
    case UnaryOp::sin:
      return run([](auto d, auto v) HWY_ATTR { return sin_of(d, v); });
    case UnaryOp::cos:
      return run([](auto d, auto v) HWY_ATTR { return cos_of(d, v); });
    case UnaryOp::erf:
      return run([](auto d, auto v) HWY_ATTR DNN_ALWAYS_INLINE { return erf_of(d, v); });
    default:
      HWY_DASSERT(false);
  }
}

// s: the result where slope_from_output(params), else the input; g: dy.
void function_backward_chunk(const UnaryParams& params, bool stream, int64_t count, const float* saved, const float* dy,
                             float* dx) {
  const float a = static_cast<float>(params.a), b = static_cast<float>(params.b), c = static_cast<float>(params.c);
  const auto run = [=](auto f) HWY_ATTR { backward_loop(stream, count, saved, dy, dx, f); };
  switch (params.op) {
    case UnaryOp::affine:
      return run([=](auto d, auto, auto g) HWY_ATTR { return hn::Mul(g, hn::Set(d, a)); });
    case UnaryOp::divide:
      return run([=](auto d, auto, auto g) HWY_ATTR { return hn::Div(g, hn::Set(d, a)); });
    case UnaryOp::reciprocal:
      return run([=](auto d, auto s, auto g) HWY_ATTR { return hn::Mul(g, hn::Div(hn::Div(hn::Set(d, -a), s), s)); });
    case UnaryOp::pow: {
      const double factor = params.a * params.b;
      // Where y does not depend on x the slope is 0, also where the power of the base would be infinite.
      const PowerPlan plan(factor == 0 ? 0 : params.a - 1);
      return run([=](auto d, auto s, auto g) HWY_ATTR DNN_ALWAYS_INLINE {
        const auto base = hn::MulAdd(hn::Set(d, b), s, hn::Set(d, c));
        return hn::Mul(g, hn::Mul(power_of_any(d, base, plan), hn::Set(d, static_cast<float>(factor))));
      });
    }
    case UnaryOp::square:
      return run([](auto, auto s, auto g) HWY_ATTR { return hn::Mul(g, hn::Add(s, s)); });
    case UnaryOp::clamp:
      return run([=](auto d, auto s, auto g) HWY_ATTR {
        return hn::IfThenElseZero(hn::And(hn::Ge(s, hn::Set(d, a)), hn::Le(s, hn::Set(d, b))), g);
      });
    case UnaryOp::abs:
      return run([](auto d, auto s, auto g) HWY_ATTR { return hn::Mul(g, sign(d, s)); });
    case UnaryOp::neg:
      return run([](auto, auto, auto g) HWY_ATTR { return hn::Neg(g); });
    case UnaryOp::sign:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
      return run([](auto d, auto, auto) HWY_ATTR { return hn::Zero(d); });
    case UnaryOp::exp:
      return run([](auto, auto s, auto g) HWY_ATTR { return hn::Mul(g, s); });
    case UnaryOp::expm1:
      return run([](auto d, auto s, auto g) HWY_ATTR { return hn::Mul(g, hn::Add(s, hn::Set(d, 1.0f))); });
    case UnaryOp::log:
      return run([](auto, auto s, auto g) HWY_ATTR { return hn::Div(g, s); });
    case UnaryOp::log1p:
      return run([](auto d, auto s, auto g) HWY_ATTR { return hn::Div(g, hn::Add(s, hn::Set(d, 1.0f))); });
    case UnaryOp::sqrt:
      return run([](auto, auto s, auto g) HWY_ATTR { return hn::Div(g, hn::Add(s, s)); });
    case UnaryOp::rsqrt:
      return run([](auto d, auto s, auto g)
                     HWY_ATTR { return hn::Mul(g, hn::Mul(hn::Mul(s, s), hn::Mul(s, hn::Set(d, -0.5f)))); });
    case UnaryOp::sin:
      return run([](auto d, auto s, auto g) HWY_ATTR { return hn::Mul(g, cos_of(d, s)); });
    case UnaryOp::cos:
      return run([](auto d, auto s, auto g) HWY_ATTR { return hn::Neg(hn::Mul(g, sin_of(d, s))); });
    case UnaryOp::erf:
      return run([](auto d, auto s, auto g)
                     HWY_ATTR { return hn::Mul(g, hn::Mul(hn::Set(d, 1.12837917f), exp_of_negative_square(d, s))); });
    default:
      HWY_DASSERT(false);
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

UnaryForwardLoop function_forward_loop(const Context& context) { return DNN_PER_ISA(function_forward_chunk)[context]; }

UnaryBackwardLoop function_backward_loop(const Context& context) {
  return DNN_PER_ISA(function_backward_chunk)[context];
}

}  // namespace dnn::cpu
#endif
