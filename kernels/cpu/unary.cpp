// y = f(x) and its gradient: the chunks of all functions, and the loops of activations.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/unary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/unary_loops-inl.h>
#include <kernels/cpu/unary.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// with_activation, and those with parameters.
template <class F>
HWY_INLINE void with_any_activation(const UnaryParams& activation, F&& f) {
  switch (activation.op) {
    case UnaryOp::swish:
      return f.template operator()<UnaryOp::swish>();
    case UnaryOp::leaky_relu:
      return f.template operator()<UnaryOp::leaky_relu>();
    case UnaryOp::elu:
      return f.template operator()<UnaryOp::elu>();
    case UnaryOp::softplus:
      return f.template operator()<UnaryOp::softplus>();
    case UnaryOp::hardtanh:
      return f.template operator()<UnaryOp::hardtanh>();
    default:
      return with_activation(activation, f);
  }
}

void activation_forward_chunk(const UnaryParams& activation, bool stream, int64_t count, const float* x, float* y) {
  const float a = static_cast<float>(activation.a), b = static_cast<float>(activation.b);
  with_any_activation(activation, [&]<UnaryOp kOp>() HWY_ATTR {
    forward_loop(stream, count, x, y, [=](auto d, auto v) HWY_ATTR { return activate<kOp>(d, v, a, b); });
  });
}

void activation_backward_chunk(const UnaryParams& activation, bool stream, int64_t count, const float* saved, const float* dy,
                         float* dx) {
  const float a = static_cast<float>(activation.a), b = static_cast<float>(activation.b);
  with_any_activation(activation, [&]<UnaryOp kOp>() HWY_ATTR {
    backward_loop(stream, count, saved, dy, dx,
                  [=](auto d, auto s, auto g) HWY_ATTR { return activation_backward<kOp>(d, s, g, a, b); });
  });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

UnaryForwardLoop activation_forward_loop(const Context& context) { return DNN_PER_ISA(activation_forward_chunk)[context]; }

UnaryBackwardLoop activation_backward_loop(const Context& context) { return DNN_PER_ISA(activation_backward_chunk)[context]; }

void unary_forward(Context& context, const UnaryParams& f, int64_t count, const float* x, float* y) {
  const auto loop = is_activation(f.op) ? activation_forward_loop(context) : function_forward_loop(context);
  const bool stream = x != y && worth_streaming(y, count);
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = line_range(count, chunks, chunk);
    loop(f, stream, end - begin, x + begin, y + begin);
  });
}

void unary_backward(Context& context, const UnaryParams& f, int64_t count, const float* saved, const float* dy,
                    float* dx) {
  if (!saved) saved = dy;  // not used
  const auto loop = is_activation(f.op) ? activation_backward_loop(context) : function_backward_loop(context);
  const bool stream = dx != dy && worth_streaming(dx, count);
  const int64_t chunks = chunk_count(count, kChunkElements);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = line_range(count, chunks, chunk);
    loop(f, stream, end - begin, saved + begin, dy + begin, dx + begin);
  });
}

}  // namespace dnn::cpu
#endif
