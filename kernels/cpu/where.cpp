// y = condition ? a : b for broadcast operands, run by run of the last dimension.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/where.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/broadcast-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <bool kStepC, bool kStepA, bool kStepB>
void chunk_loop(const BroadcastPlan<3>& plan, Range range, const uint8_t* condition, const float* a, const float* b,
                float* y) {
  for_each_run(plan, range, [=](int64_t count, const auto& from, int64_t begin) HWY_ATTR {
    const uint8_t* c_run = condition + from[0];
    const float *a_run = a + from[1], *b_run = b + from[2];
    float* y_run = y + begin;
    for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> words;
      const hn::Rebind<uint8_t, decltype(d)> bytes;
      const auto word = hn::PromoteTo(words, operand<kStepC>(bytes, c_run, i));
      const auto chosen = hn::RebindMask(d, hn::Ne(word, hn::Zero(words)));
      hn::StoreU(hn::IfThenElse(chosen, operand<kStepA>(d, a_run, i), operand<kStepB>(d, b_run, i)), d, y_run + i);
    });
  });
}

template <bool kStepC, bool kStepA>
void chunk_with(const BroadcastPlan<3>& plan, Range range, const uint8_t* condition, const float* a, const float* b,
                float* y) {
  if (plan.steps(2)) return chunk_loop<kStepC, kStepA, true>(plan, range, condition, a, b, y);
  chunk_loop<kStepC, kStepA, false>(plan, range, condition, a, b, y);
}

void where_chunk(const BroadcastPlan<3>& plan, Range range, const uint8_t* condition, const float* a, const float* b,
                 float* y) {
  if (plan.steps(0) && plan.steps(1)) return chunk_with<true, true>(plan, range, condition, a, b, y);
  if (plan.steps(0)) return chunk_with<true, false>(plan, range, condition, a, b, y);
  if (plan.steps(1)) return chunk_with<false, true>(plan, range, condition, a, b, y);
  chunk_with<false, false>(plan, range, condition, a, b, y);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void where(Context& context, const TernaryShape& shape, const uint8_t* condition, const float* a, const float* b,
           float* y) {
  const auto chunk_loop = DNN_PER_ISA(where_chunk)[context];
  const BroadcastPlan<3> plan = broadcast_plan(shape);
  const int64_t count = plan.count(), chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(plan, line_range(count, chunks, chunk), condition, a, b, y); });
}

}  // namespace dnn::cpu
#endif
