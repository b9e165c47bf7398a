// The place of the largest or smallest value along an axis, the first of equals or of NaNs. In a dense line the value
// is found first, then its place.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/arg_reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include <kernels/cpu/axis_blocks.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <ArgOp kOp, class V>
HWY_INLINE auto is_better(V v, V before) {
  if constexpr (kOp == ArgOp::max) {
    return hn::Gt(v, before);
  } else {
    return hn::Lt(v, before);
  }
}

template <ArgOp kOp, class V>
HWY_INLINE V better_of(V v, V before) {
  return hn::IfThenElse(hn::Or(is_better<kOp>(v, before), hn::IsNaN(v)), v, before);
}

// NaN where there is one. The vectors at the end overlap, so that none is shorter.
template <ArgOp kOp, class D>
HWY_INLINE float best_of_line(D d, int64_t count, const float* x) {
  constexpr int kTogether = 4;
  const int64_t lanes = hn::Lanes(d);
  auto best = hn::LoadU(d, x);
  int64_t i = 0;
  if (count >= 2 * kTogether * lanes) {
    hn::Vec<D> bests[kTogether];
    for (auto& v : bests) v = best;
    for (; i + kTogether * lanes <= count; i += kTogether * lanes) {
#pragma GCC unroll 4
      for (int j = 0; j < kTogether; ++j) bests[j] = better_of<kOp>(hn::LoadU(d, x + i + j * lanes), bests[j]);
    }
    for (const auto& v : bests) best = better_of<kOp>(v, best);
  }
  for (; i < count; i += lanes) best = better_of<kOp>(hn::LoadU(d, x + std::min(i, count - lanes)), best);
  if (!hn::AllFalse(d, hn::IsNaN(best))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(kOp == ArgOp::max ? hn::MaxOfLanes(d, best) : hn::MinOfLanes(d, best));
}

template <class D>
HWY_INLINE int32_t place_in_line(D d, float value, int64_t count, const float* x) {
  const int64_t lanes = hn::Lanes(d);
  const bool nan = std::isnan(value);
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t at = std::min(i, count - lanes);
    const auto v = hn::LoadU(d, x + at);
    const intptr_t lane = hn::FindFirstTrue(d, nan ? hn::IsNaN(v) : hn::Eq(v, hn::Set(d, value)));
    if (lane >= 0) return static_cast<int32_t>(at + lane);
  }
  return 0;
}

template <ArgOp kOp>
int32_t place_of_best(int size, const float* x) {
  const hn::ScalableTag<float> d;
  if (size >= static_cast<int>(hn::Lanes(d))) return place_in_line(d, best_of_line<kOp>(d, size, x), size, x);
  const hn::CappedTag<float, 1> one;
  return place_in_line(one, best_of_line<kOp>(one, size, x), size, x);
}

// Each value of `width` lines' place i against the best so far.
template <ArgOp kOp>
void take_row(int32_t i, int64_t width, const float* x, float* best, int32_t* index) {
  for_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> words;
    const auto v = hn::LoadU(d, x + c), before = hn::LoadU(d, best + c);
    const auto better = hn::Or(is_better<kOp>(v, before), hn::AndNot(hn::IsNaN(before), hn::IsNaN(v)));
    hn::StoreU(hn::IfThenElse(better, v, before), d, best + c);
    const auto place = hn::IfThenElse(hn::RebindMask(words, better), hn::Set(words, i), hn::LoadU(words, index + c));
    hn::StoreU(place, words, index + c);
  });
}

void lines_chunk(ArgOp op, int64_t lines, int size, const float* x, int32_t* index) {
  for (int64_t line = 0; line < lines; ++line, x += size) {
    index[line] = op == ArgOp::max ? place_of_best<ArgOp::max>(size, x) : place_of_best<ArgOp::min>(size, x);
  }
}

void block_chunk(ArgOp op, int size, int64_t inner, int64_t width, const float* x, float* best, int32_t* index) {
  std::copy_n(x, width, best);
  std::fill_n(index, width, 0);
  for (int32_t i = 1; i < size; ++i) {
    if (op == ArgOp::max) {
      take_row<ArgOp::max>(i, width, x + i * inner, best, index);
    } else {
      take_row<ArgOp::min>(i, width, x + i * inner, best, index);
    }
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void arg_reduce(Context& context, ArgOp op, const AxisShape& shape, const float* x, int32_t* index) {
  if (shape.inner == 1) {
    const auto chunk_loop = DNN_PER_ISA(lines_chunk)[context];
    return for_each_chunk_of_lines(context, shape, [&](Range lines) {
      chunk_loop(op, lines.end - lines.begin, shape.size, x + lines.begin * shape.size, index + lines.begin);
    });
  }
  const auto chunk_loop = DNN_PER_ISA(block_chunk)[context];
  const AxisBlocks blocks(shape);
  Workspace workspace(context);
  float* all_best = workspace.take<float>(threads_for(context, blocks.chunks) * AxisBlocks::kWidest);
  for_each_block(context, shape, blocks, [&](const AxisBlocks::Block& block, int64_t at, int thread) {
    chunk_loop(op, shape.size, shape.inner, block.width, x + at, all_best + thread * AxisBlocks::kWidest,
               index + block.outer * shape.inner + block.first);
  });
}

}  // namespace dnn::cpu
#endif
