// y = (shift + scale * x) ^ power and its gradient; one pass over memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/power.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/power-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

void power_chunk(const PowerPlan& plan, float scale, float shift, int64_t count, const float* x, float* y) {
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
    const auto base = hn::MulAdd(hn::LoadU(d, x + i), hn::Set(d, scale), hn::Set(d, shift));
    hn::StoreU(power(d, base, plan), d, y + i);
  });
}

// dx = dy * factor * base ^ (power - 1); the plan is for that.
void power_backward_chunk(const PowerPlan& plan, float factor, float scale, float shift, int64_t count, const float* x,
                          const float* dy, float* dx) {
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
    const auto base = hn::MulAdd(hn::LoadU(d, x + i), hn::Set(d, scale), hn::Set(d, shift));
    const auto slope = hn::Mul(power(d, base, plan), hn::Set(d, factor));
    hn::StoreU(hn::Mul(hn::LoadU(d, dy + i), slope), d, dx + i);
  });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void power_forward(Context& context, const PowerParams& params, int64_t count, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(power_chunk)[context];
  const PowerPlan plan(params.power);
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(count, chunks, chunk);
    chunk_loop(plan, static_cast<float>(params.scale), static_cast<float>(params.shift), range.end - range.begin,
               x + range.begin, y + range.begin);
  });
}

void power_backward(Context& context, const PowerParams& params, int64_t count, const float* x, const float* dy,
                    float* dx) {
  const auto chunk_loop = DNN_PER_ISA(power_backward_chunk)[context];
  const double factor = params.power * params.scale;
  // Where y does not depend on x the slope is 0, also where the power of the base would be infinite.
  const PowerPlan plan(factor == 0 ? 0 : params.power - 1);
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(count, chunks, chunk);
    chunk_loop(plan, static_cast<float>(factor), static_cast<float>(params.scale), static_cast<float>(params.shift),
               range.end - range.begin, x + range.begin, dy + range.begin, dx + range.begin);
  });
}

}  // namespace dnn::cpu
#endif
