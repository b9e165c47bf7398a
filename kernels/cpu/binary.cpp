// y = a op b for broadcast operands: the result in its dense order, run by run of its last dimension.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/binary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/broadcast-inl.h>
#include <kernels/cpu/simd/power-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <BinaryOp kOp, class D, class V>
HWY_INLINE V compute(D d, V a, V b) {
  if constexpr (kOp == BinaryOp::add) return hn::Add(a, b);
  if constexpr (kOp == BinaryOp::sub) return hn::Sub(a, b);
  if constexpr (kOp == BinaryOp::mul) return hn::Mul(a, b);
  if constexpr (kOp == BinaryOp::div) return hn::Div(a, b);
  if constexpr (kOp == BinaryOp::min) return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  if constexpr (kOp == BinaryOp::max) return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  if constexpr (kOp == BinaryOp::pow) return pow(d, a, b);
}

template <BinaryOp kOp, bool kStepA, bool kStepB, bool kStream>
void chunk_loop(const BroadcastPlan<2>& plan, Range range, const float* a, const float* b, float* y) {
  for_each_run(plan, range, [=](int64_t count, const auto& from, int64_t begin) HWY_ATTR {
    const float *a_run = a + from[0], *b_run = b + from[1];
    float* y_run = y + begin;
    for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
      store<kStream>(compute<kOp>(d, operand<kStepA>(d, a_run, i), operand<kStepB>(d, b_run, i)), d, y_run + i);
    });
  });
  flush<kStream>();
}

template <BinaryOp kOp>
void chunk_of(const BroadcastPlan<2>& plan, bool stream, Range range, const float* a, const float* b, float* y) {
  if (stream) return chunk_loop<kOp, true, true, true>(plan, range, a, b, y);
  if (!plan.steps(0) && !plan.steps(1)) return chunk_loop<kOp, false, false, false>(plan, range, a, b, y);
  if (!plan.steps(0)) return chunk_loop<kOp, false, true, false>(plan, range, a, b, y);
  if (!plan.steps(1)) return chunk_loop<kOp, true, false, false>(plan, range, a, b, y);
  chunk_loop<kOp, true, true, false>(plan, range, a, b, y);
}

void binary_chunk(BinaryOp op, const BroadcastPlan<2>& plan, bool stream, Range range, const float* a, const float* b,
                  float* y) {
  switch (op) {
    case BinaryOp::add:
      return chunk_of<BinaryOp::add>(plan, stream, range, a, b, y);
    case BinaryOp::sub:
      return chunk_of<BinaryOp::sub>(plan, stream, range, a, b, y);
    case BinaryOp::mul:
      return chunk_of<BinaryOp::mul>(plan, stream, range, a, b, y);
    case BinaryOp::div:
      return chunk_of<BinaryOp::div>(plan, stream, range, a, b, y);
    case BinaryOp::min:
      return chunk_of<BinaryOp::min>(plan, stream, range, a, b, y);
    case BinaryOp::max:
      return chunk_of<BinaryOp::max>(plan, stream, range, a, b, y);
    case BinaryOp::pow:
      return chunk_of<BinaryOp::pow>(plan, stream, range, a, b, y);
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void binary(Context& context, BinaryOp op, const BroadcastShape& shape, const float* a, const float* b, float* y) {
  const auto chunk_loop = DNN_PER_ISA(binary_chunk)[context];
  const BroadcastPlan<2> plan = broadcast_plan(shape);
  const int64_t count = plan.count(),
                chunks = chunk_count(count, op == BinaryOp::pow ? kChunkElements / 8 : kChunkElements);
  const bool stream = plan.flat() && y != a && y != b && worth_streaming(y, count);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(op, plan, stream, line_range(count, chunks, chunk), a, b, y); });
}

}  // namespace dnn::cpu
#endif
