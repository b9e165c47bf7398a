// y = 1 where a op b, else 0, for broadcast operands, run by run of the last dimension.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/compare.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <utility>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/broadcast-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <CompareOp kOp, class V>
HWY_INLINE auto holds(V a, V b) {
  if constexpr (kOp == CompareOp::eq) return hn::Eq(a, b);
  if constexpr (kOp == CompareOp::ne) return hn::Not(hn::Eq(a, b));  // Ne is false of a NaN
  if constexpr (kOp == CompareOp::lt) return hn::Lt(a, b);
  if constexpr (kOp == CompareOp::le) return hn::Le(a, b);
}

template <CompareOp kOp, bool kStepA, bool kStepB>
void chunk_loop(const BroadcastPlan<2>& plan, Range range, const float* a, const float* b, uint8_t* y) {
  for_each_run(plan, range, [=](int64_t count, const auto& from, int64_t begin) HWY_ATTR {
    const float *a_run = a + from[0], *b_run = b + from[1];
    uint8_t* y_run = y + begin;
    for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> words;
      const hn::Rebind<uint8_t, decltype(d)> bytes;
      const auto mask = holds<kOp>(operand<kStepA>(d, a_run, i), operand<kStepB>(d, b_run, i));
      const auto ones = hn::IfThenElseZero(hn::RebindMask(words, mask), hn::Set(words, 1));
      hn::StoreU(hn::DemoteTo(bytes, ones), bytes, y_run + i);
    });
  });
}

template <CompareOp kOp>
void chunk_of(const BroadcastPlan<2>& plan, Range range, const float* a, const float* b, uint8_t* y) {
  if (!plan.steps(0) && !plan.steps(1)) return chunk_loop<kOp, false, false>(plan, range, a, b, y);
  if (!plan.steps(0)) return chunk_loop<kOp, false, true>(plan, range, a, b, y);
  if (!plan.steps(1)) return chunk_loop<kOp, true, false>(plan, range, a, b, y);
  chunk_loop<kOp, true, true>(plan, range, a, b, y);
}

void compare_chunk(CompareOp op, const BroadcastPlan<2>& plan, Range range, const float* a, const float* b,
                   uint8_t* y) {
  switch (op) {
    case CompareOp::eq:
      return chunk_of<CompareOp::eq>(plan, range, a, b, y);
    case CompareOp::ne:
      return chunk_of<CompareOp::ne>(plan, range, a, b, y);
    case CompareOp::lt:
      return chunk_of<CompareOp::lt>(plan, range, a, b, y);
    case CompareOp::le:
      return chunk_of<CompareOp::le>(plan, range, a, b, y);
    case CompareOp::gt:  // come as the other two
    case CompareOp::ge:
      return;
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void compare(Context& context, CompareOp op, const BroadcastShape& shape, const float* a, const float* b, uint8_t* y) {
  BroadcastPlan<2> plan = broadcast_plan(shape);
  if (op == CompareOp::gt || op == CompareOp::ge) {
    op = op == CompareOp::gt ? CompareOp::lt : CompareOp::le;
    std::swap(plan.stride[0], plan.stride[1]);
    std::swap(a, b);
  }
  const auto chunk_loop = DNN_PER_ISA(compare_chunk)[context];
  const int64_t count = plan.count(), chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(op, plan, line_range(count, chunks, chunk), a, b, y); });
}

}  // namespace dnn::cpu
#endif
