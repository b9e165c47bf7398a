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

// f.operator()<op>(), the activation a constant.
template <class F>
HWY_INLINE void with_activation(const UnaryParams& activation, F&& f) {
  switch (activation.op) {
    case UnaryOp::sigmoid:
      return f.template operator()<UnaryOp::sigmoid>();
    case UnaryOp::tanh:
      return f.template operator()<UnaryOp::tanh>();
    case UnaryOp::hardsigmoid:
      return f.template operator()<UnaryOp::hardsigmoid>();
    case UnaryOp::gelu:
      return f.template operator()<UnaryOp::gelu>();
    case UnaryOp::gelu_tanh:
      return f.template operator()<UnaryOp::gelu_tanh>();
    case UnaryOp::mish:
      return f.template operator()<UnaryOp::mish>();
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
      return with_loop(activation.op, f);
  }
}

void activation_forward_chunk(const UnaryParams& activation, bool stream, int64_t count, const float* x, float* y) {
  const float a = static_cast<float>(activation.a), b = static_cast<float>(activation.b);
  with_activation(activation, [&]<UnaryOp kOp>() HWY_ATTR {
    forward_loop(stream, count, x, y, [=](auto d, auto v) HWY_ATTR { return activate<kOp>(d, v, a, b); });
  });
}

void activation_backward_chunk(const UnaryParams& activation, bool stream, int64_t count, const float* saved,
                               const float* dy, float* dx) {
  const float a = static_cast<float>(activation.a), b = static_cast<float>(activation.b);
  with_activation(activation, [&]<UnaryOp kOp>() HWY_ATTR {
    backward_loop(stream, count, saved, dy, dx,
                  [=](auto d, auto s, auto g) HWY_ATTR { return activation_backward<kOp>(d, s, g, a, b); });
  });
}

}  // namespace

void activate_block(const UnaryParams& activation, int64_t rows, int64_t cols, int64_t pitch, float* values) {
  if (activation.op == UnaryOp::none) return;
  if (cols == pitch) cols *= rows, rows = 1;
  for (int64_t row = 0; row < rows; ++row, values += pitch) {
    activation_forward_chunk(activation, false, cols, values, values);
  }
}

void activation_gradient(const UnaryParams& activation, int64_t count, const float* saved, const float* dy, float* dx) {
  activation_backward_chunk(activation, false, count, saved, dy, dx);
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

UnaryForwardLoop activation_forward_loop(const Context& context) {
  return DNN_PER_ISA(activation_forward_chunk)[context];
}

UnaryBackwardLoop activation_backward_loop(const Context& context) {
  return DNN_PER_ISA(activation_backward_chunk)[context];
}

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
