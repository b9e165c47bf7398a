// y = activation(x) and its gradient; one pass over memory, vectorised over the elements.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

template <Activation kActivation>
void forward_loop(int64_t count, const float* x, float* y) {
  for_vectors(count, [&](auto d, int64_t i) HWY_ATTR {  //
    hn::StoreU(activate<kActivation>(d, hn::LoadU(d, x + i)), d, y + i);
  });
}

template <Activation kActivation>
void backward_loop(int64_t count, const float* saved, const float* dy, float* dx) {
  for_vectors(count, [&](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(activation_backward<kActivation>(d, hn::LoadU(d, saved + i), hn::LoadU(d, dy + i)), d, dx + i);
  });
}

// The three with alpha.
void alpha_forward_loop(Activation activation, float alpha, int64_t count, const float* x, float* y) {
  for_vectors(count, [&](auto d, int64_t i)
                         HWY_ATTR { hn::StoreU(activate(d, activation, alpha, hn::LoadU(d, x + i)), d, y + i); });
}

void alpha_backward_loop(Activation activation, float alpha, int64_t count, const float* saved, const float* dy,
                         float* dx) {
  for_vectors(count, [&](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(activation_backward(d, activation, alpha, hn::LoadU(d, saved + i), hn::LoadU(d, dy + i)), d, dx + i);
  });
}

void forward_chunk(Activation activation, float alpha, int64_t count, const float* x, float* y) {
  if (has_alpha(activation)) return alpha_forward_loop(activation, alpha, count, x, y);
  with_activation(activation, [&]<Activation kActivation>() HWY_ATTR { forward_loop<kActivation>(count, x, y); });
}

void backward_chunk(Activation activation, float alpha, int64_t count, const float* saved, const float* dy, float* dx) {
  if (has_alpha(activation)) return alpha_backward_loop(activation, alpha, count, saved, dy, dx);
  with_activation(activation,
                  [&]<Activation kActivation>() HWY_ATTR { backward_loop<kActivation>(count, saved, dy, dx); });
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void activation_forward(Context& context, Activation activation, double alpha, int64_t count, const float* x,
                        float* y) {
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(count, chunks, chunk);
    chunk_loop(activation, static_cast<float>(alpha), range.end - range.begin, x + range.begin, y + range.begin);
  });
}

void activation_backward(Context& context, Activation activation, double alpha, int64_t count, const float* y_or_x,
                         const float* dy, float* dx) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(count, chunks, chunk);
    chunk_loop(activation, static_cast<float>(alpha), range.end - range.begin, y_or_x + range.begin, dy + range.begin,
               dx + range.begin);
  });
}

}  // namespace dnn::cpu
#endif
