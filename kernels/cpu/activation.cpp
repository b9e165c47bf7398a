// y = activation(x) and its gradient from y; one pass over memory, vectorised over the elements.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

template <Activation kActivation>
void forward_loop(int64_t count, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(activate<kActivation>(d, hn::LoadU(d, x + i)), d, y + i);
  const hn::CappedTag<float, 1> d1;
  for (; i < count; ++i) hn::StoreU(activate<kActivation>(d1, hn::LoadU(d1, x + i)), d1, y + i);
}

template <Activation kActivation>
void backward_loop(int64_t count, const float* y, const float* dy, float* dx) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(activation_backward<kActivation>(d, hn::LoadU(d, y + i), hn::LoadU(d, dy + i)), d, dx + i);
  }
  const hn::CappedTag<float, 1> d1;
  for (; i < count; ++i) {
    hn::StoreU(activation_backward<kActivation>(d1, hn::LoadU(d1, y + i), hn::LoadU(d1, dy + i)), d1, dx + i);
  }
}

void forward_chunk(Activation activation, int64_t count, const float* x, float* y) {
  switch (activation) {
    case Activation::none:
      return forward_loop<Activation::none>(count, x, y);
    case Activation::relu:
      return forward_loop<Activation::relu>(count, x, y);
    case Activation::sigmoid:
      return forward_loop<Activation::sigmoid>(count, x, y);
    case Activation::tanh:
      return forward_loop<Activation::tanh>(count, x, y);
  }
}

void backward_chunk(Activation activation, int64_t count, const float* y, const float* dy, float* dx) {
  switch (activation) {
    case Activation::none:
      return backward_loop<Activation::none>(count, y, dy, dx);
    case Activation::relu:
      return backward_loop<Activation::relu>(count, y, dy, dx);
    case Activation::sigmoid:
      return backward_loop<Activation::sigmoid>(count, y, dy, dx);
    case Activation::tanh:
      return backward_loop<Activation::tanh>(count, y, dy, dx);
  }
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void activation_forward(Context& context, Activation activation, int64_t count, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(count, chunks, chunk);
    chunk_loop(activation, range.end - range.begin, x + range.begin, y + range.begin);
  });
}

void activation_backward(Context& context, Activation activation, int64_t count, const float* y, const float* dy,
                         float* dx) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(count, chunks, chunk);
    chunk_loop(activation, range.end - range.begin, y + range.begin, dy + range.begin, dx + range.begin);
  });
}

}  // namespace dnn::cpu
#endif
