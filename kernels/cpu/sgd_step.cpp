// g = dw + weight_decay * w; v = momentum * v + g; w -= lr * (nesterov ? g + momentum * v : v); without v, v = g.
// Sutskever et al., ICML 2013, in the form of torch.optim.SGD. One pass over memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sgd_step.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <bool kVelocity, bool kNesterov>
void sgd_loop(int64_t count, const SgdParams& params, const float* dw, float* velocity, float* w) {
  const float lr = static_cast<float>(params.lr), momentum = static_cast<float>(params.momentum);
  const float weight_decay = static_cast<float>(params.weight_decay);
  for_vectors(count, [&](auto d, int64_t i) HWY_ATTR {
    const auto old = hn::LoadU(d, w + i);
    const auto g = hn::MulAdd(hn::Set(d, weight_decay), old, hn::LoadU(d, dw + i));
    auto step = g;
    if constexpr (kVelocity) {
      const auto v = hn::MulAdd(hn::Set(d, momentum), hn::LoadU(d, velocity + i), g);
      hn::StoreU(v, d, velocity + i);
      step = kNesterov ? hn::MulAdd(hn::Set(d, momentum), v, g) : v;
    }
    hn::StoreU(hn::NegMulAdd(hn::Set(d, lr), step, old), d, w + i);
  });
}

void sgd_chunk(int64_t count, const SgdParams& params, const float* dw, float* velocity, float* w) {
  if (!velocity) return sgd_loop<false, false>(count, params, dw, velocity, w);
  if (params.nesterov) return sgd_loop<true, true>(count, params, dw, velocity, w);
  return sgd_loop<true, false>(count, params, dw, velocity, w);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void sgd_step(Context& context, int64_t count, const SgdParams& params, const float* dw, float* velocity, float* w) {
  if (!context.status->ok()) return;
  const auto chunk_loop = DNN_PER_ISA(sgd_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = line_range(count, chunks, chunk);
    chunk_loop(end - begin, params, dw + begin, velocity ? velocity + begin : nullptr, w + begin);
  });
}

}  // namespace dnn::cpu
#endif
