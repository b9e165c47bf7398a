// Losses that are a sum over the elements, with their gradient in the same pass: formulas in kernels/reference/loss.h.
// The sum is in float over a block, in double over the blocks and chunks.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pointwise_loss.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <class D>
struct Loss {
  hn::Vec<D> value, slope;
};

// 1, 0 or -1
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sign(D d, V x) {
  const V one = hn::CopySign(hn::Set(d, 1.0f), x);
  return hn::IfThenElseZero(hn::Gt(hn::Abs(x), hn::Zero(d)), one);
}

// log(1 + x) for x in [0, 1]: with s = x / (2 + x) it is 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...), s up to 1 / 3.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log1p_below_one(D d, V x) {
  const V s = hn::Div(x, hn::Add(hn::Set(d, 2.0f), x)), square = hn::Mul(s, s);
  V sum = hn::Set(d, 2.0f / 15);
#pragma GCC unroll 7
  for (int i = 6; i >= 0; --i) sum = hn::MulAdd(sum, square, hn::Set(d, 2.0f / static_cast<float>(2 * i + 1)));
  return hn::Mul(sum, s);
}

template <PointwiseLoss kKind, class D, class V = hn::Vec<D>>
HWY_INLINE Loss<D> loss_at(D d, V beta, V half_inverse_beta, V x, V target) {
  const V difference = hn::Sub(x, target), size = hn::Abs(difference);
  if constexpr (kKind == PointwiseLoss::mse) {
    return {hn::Mul(difference, difference), hn::Add(difference, difference)};
  } else if constexpr (kKind == PointwiseLoss::l1) {
    return {size, sign(d, difference)};
  } else if constexpr (kKind == PointwiseLoss::smooth_l1) {
    const auto near = hn::Lt(size, beta);
    const V share = hn::Mul(difference, half_inverse_beta);
    const V far_value = hn::NegMulAdd(hn::Set(d, 0.5f), beta, size);
    return {hn::IfThenElse(near, hn::Mul(difference, share), far_value),
            hn::IfThenElse(near, hn::Add(share, share), sign(d, difference))};
  } else {
    // max(x, 0) - x * target is 0 where the target is met: it is added first, so that the small rest is not lost.
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    const V power = hn::Exp(d, hn::Max(hn::Neg(hn::Abs(x)), hn::Set(d, -87.0f)));
    const V part = hn::NegMulAdd(x, target, hn::IfThenElse(hn::Lt(x, zero), zero, x));
    const V probability = hn::Div(hn::IfThenElse(hn::Lt(x, zero), power, one), hn::Add(one, power));
    return {hn::Add(part, log1p_below_one(d, power)), hn::Sub(hn::IfThenElse(hn::IsNaN(x), x, probability), target)};
  }
}

template <PointwiseLoss kKind>
double loss_loop(float beta, float scale, int64_t count, const float* x, const float* target, float* dx) {
  const float half_inverse_beta = beta > 0 ? 0.5f / beta : 0;
  return sum_blocks<4>(count, [&](auto d, int64_t i) HWY_ATTR {
    const auto loss = loss_at<kKind>(d, hn::Set(d, beta), hn::Set(d, half_inverse_beta), hn::LoadU(d, x + i),
                                     hn::LoadU(d, target + i));
    if (dx) hn::StoreU(hn::Mul(loss.slope, hn::Set(d, scale)), d, dx + i);
    return loss.value;
  });
}

// Returns the sum of the losses, not yet scaled.
double loss_chunk(PointwiseLoss kind, float beta, float scale, int64_t count, const float* x, const float* target,
                  float* dx) {
  switch (kind) {
    case PointwiseLoss::mse:
      return loss_loop<PointwiseLoss::mse>(beta, scale, count, x, target, dx);
    case PointwiseLoss::l1:
      return loss_loop<PointwiseLoss::l1>(beta, scale, count, x, target, dx);
    case PointwiseLoss::smooth_l1:
      return loss_loop<PointwiseLoss::smooth_l1>(beta, scale, count, x, target, dx);
    case PointwiseLoss::bce_with_logits:
      break;
  }
  return loss_loop<PointwiseLoss::bce_with_logits>(beta, scale, count, x, target, dx);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

double exact_loss(PointwiseLoss kind, double beta, double x, double target) {
  const double distance = std::abs(x - target);
  switch (kind) {
    case PointwiseLoss::mse:
      return distance * distance;
    case PointwiseLoss::l1:
      return distance;
    case PointwiseLoss::smooth_l1:
      return distance < beta ? 0.5 * distance * distance / beta : distance - 0.5 * beta;
    case PointwiseLoss::bce_with_logits:
      break;
  }
  return (x > 0 ? x : 0) - x * target + std::log1p(std::exp(-std::abs(x)));
}

// In double, for losses whose sum a float can't hold; NaN or infinite where an operand is.
double exact_sum(PointwiseLoss kind, double beta, int64_t count, const float* x, const float* target) {
  double sum = 0;
  for (int64_t i = 0; i < count && std::isfinite(sum); ++i) {
    sum += exact_loss(kind, beta, x[i], target[i]);
  }
  return sum;
}

}  // namespace

void pointwise_loss(Context& context, const PointwiseLossParams& params, int64_t count, const float* x,
                    const float* target, float* loss, float* dx) {
  const PointwiseLoss kind = params.kind;
  const double beta = params.beta, scale = params.scale;
  const auto chunk_loop = DNN_PER_ISA(loss_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements);
  Workspace workspace(context);
  double* losses = workspace.take<double>(chunks);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = chunk_range(count, chunks, chunk);
    losses[chunk] = chunk_loop(kind, static_cast<float>(beta), static_cast<float>(scale), end - begin, x + begin,
                               target + begin, dx ? dx + begin : nullptr);
  });
  double sum = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += losses[chunk];
  if (!std::isfinite(sum)) sum = exact_sum(kind, beta, count, x, target);
  loss[0] = static_cast<float>(scale * sum);
}

}  // namespace dnn::cpu
#endif
