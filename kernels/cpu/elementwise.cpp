// y = a op b for broadcast operands: the result in its dense order, run by run of its last dimension. Along a run each
// operand steps by one or stands still.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

#ifndef DNN_ELEMENTWISE_ARITHMETIC
#define DNN_ELEMENTWISE_ARITHMETIC
namespace dnn::cpu {
namespace {

enum class Arithmetic { add, sub, mul, div };

}  // namespace
}  // namespace dnn::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <Arithmetic kOp, class V>
HWY_INLINE V compute(V a, V b) {
  if constexpr (kOp == Arithmetic::add) return hn::Add(a, b);
  if constexpr (kOp == Arithmetic::sub) return hn::Sub(a, b);
  if constexpr (kOp == Arithmetic::mul) return hn::Mul(a, b);
  if constexpr (kOp == Arithmetic::div) return hn::Div(a, b);
}

template <bool kStep, class D>
HWY_INLINE hn::Vec<D> operand(D d, const float* x, int64_t i) {
  if constexpr (kStep) {
    return hn::LoadU(d, x + i);
  } else {
    return hn::Set(d, *x);
  }
}

template <Arithmetic kOp, bool kStepA, bool kStepB, bool kStream>
void run_loop(int64_t count, const float* a, const float* b, float* y) {
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
    store<kStream>(compute<kOp>(operand<kStepA>(d, a, i), operand<kStepB>(d, b, i)), d, y + i);
  });
}

// The results [range.begin, range.end). The last dimension has steps kStepA and kStepB.
template <Arithmetic kOp, bool kStepA, bool kStepB, bool kStream>
void broadcast_loop(const BroadcastShape& shape, Range range, const float* a, const float* b, float* y) {
  const int last = shape.dims - 1;
  const int64_t length = shape.size[last];
  std::array<int64_t, kMaxDims> at{};  // the place in every dimension but the last
  int64_t rest = range.begin / length, a_offset = 0, b_offset = 0;
  for (int dim = last - 1; dim >= 0; --dim) {
    at[dim] = rest % shape.size[dim];
    rest /= shape.size[dim];
    a_offset += at[dim] * shape.a_stride[dim];
    b_offset += at[dim] * shape.b_stride[dim];
  }
  int64_t first = range.begin % length;
  for (int64_t i = range.begin; i < range.end; first = 0) {
    const int64_t count = std::min(length - first, range.end - i);
    run_loop<kOp, kStepA, kStepB, kStream>(count, a + a_offset + first * kStepA, b + b_offset + first * kStepB, y + i);
    i += count;
    for (int dim = last - 1; dim >= 0; --dim) {
      a_offset += shape.a_stride[dim];
      b_offset += shape.b_stride[dim];
      if (++at[dim] < shape.size[dim]) break;
      at[dim] = 0;
      a_offset -= shape.size[dim] * shape.a_stride[dim];
      b_offset -= shape.size[dim] * shape.b_stride[dim];
    }
  }
  flush<kStream>();
}

template <Arithmetic kOp>
void broadcast_chunk(const BroadcastShape& shape, bool stream, Range range, const float* a, const float* b, float* y) {
  const int last = shape.dims - 1;
  if (stream) return broadcast_loop<kOp, true, true, true>(shape, range, a, b, y);
  const bool step_a = shape.a_stride[last] != 0, step_b = shape.b_stride[last] != 0;
  if (!step_a && !step_b) return broadcast_loop<kOp, false, false, false>(shape, range, a, b, y);
  if (!step_a) return broadcast_loop<kOp, false, true, false>(shape, range, a, b, y);
  if (!step_b) return broadcast_loop<kOp, true, false, false>(shape, range, a, b, y);
  broadcast_loop<kOp, true, true, false>(shape, range, a, b, y);
}

void arithmetic_chunk(Arithmetic op, const BroadcastShape& shape, bool stream, Range range, const float* a,
                      const float* b, float* y) {
  switch (op) {
    case Arithmetic::add:
      return broadcast_chunk<Arithmetic::add>(shape, stream, range, a, b, y);
    case Arithmetic::sub:
      return broadcast_chunk<Arithmetic::sub>(shape, stream, range, a, b, y);
    case Arithmetic::mul:
      return broadcast_chunk<Arithmetic::mul>(shape, stream, range, a, b, y);
    case Arithmetic::div:
      return broadcast_chunk<Arithmetic::div>(shape, stream, range, a, b, y);
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

void arithmetic(Context& context, Arithmetic op, BroadcastShape shape, const float* a, const float* b, float* y) {
  const auto chunk_loop = DNN_PER_ISA(arithmetic_chunk)[context];
  if (shape.dims == 0) shape = BroadcastShape{1, {1}, {1}, {1}};
  const int64_t count = shape.count(), chunks = chunk_count(count, kChunkElements);
  const bool flat = shape.dims == 1 && shape.a_stride[0] == 1 && shape.b_stride[0] == 1;
  const bool stream = flat && y != a && y != b && worth_streaming(y, count);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(op, shape, stream, line_range(count, chunks, chunk), a, b, y); });
}

}  // namespace

void add(Context& context, const BroadcastShape& shape, const float* a, const float* b, float* y) {
  arithmetic(context, Arithmetic::add, shape, a, b, y);
}

void sub(Context& context, const BroadcastShape& shape, const float* a, const float* b, float* y) {
  arithmetic(context, Arithmetic::sub, shape, a, b, y);
}

void mul(Context& context, const BroadcastShape& shape, const float* a, const float* b, float* y) {
  arithmetic(context, Arithmetic::mul, shape, a, b, y);
}

void div(Context& context, const BroadcastShape& shape, const float* a, const float* b, float* y) {
  arithmetic(context, Arithmetic::div, shape, a, b, y);
}

}  // namespace dnn::cpu
#endif
