// Running sums along an axis, in double: line by line, or block by block of neighbouring lines.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cumsum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/axis_blocks.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/reduction-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// `step` leads from a place to the next, and is negative where the sum runs from the end.
void cumsum_block(int size, int64_t step, int64_t width, const float* x, double* sums, float* y) {
  std::fill_n(sums, width, 0.0);
  for (int i = 0; i < size; ++i, x += step, y += step) {
    for_double_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      const auto sum = hn::Add(hn::LoadU(d, sums + c), load_as_double(d, x + c));
      hn::StoreU(sum, d, sums + c);
#if HWY_TARGET == HWY_SCALAR
      y[c] = static_cast<float>(hn::GetLane(sum));  // Highway's DemoteTo has no infinity there
#else
      hn::StoreU(hn::DemoteTo(hn::Rebind<float, decltype(d)>(), sum), hn::Rebind<float, decltype(d)>(), y + c);
#endif
    });
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

void cumsum_line(int size, int64_t step, const float* x, float* y) {
  double sum = 0;
  for (int i = 0; i < size; ++i, x += step, y += step) *y = static_cast<float>(sum += *x);
}

}  // namespace

void cumsum(Context& context, const AxisShape& shape, bool reverse, const float* x, float* y) {
  const int64_t step = reverse ? -shape.inner : shape.inner, start = reverse ? (shape.size - 1) * shape.inner : 0;
  if (shape.count() == 0) return;
  if (shape.inner == 1) {
    return for_each_chunk_of_lines(context, shape, [&](Range lines) {
      for (int64_t line = lines.begin; line < lines.end; ++line) {
        cumsum_line(shape.size, step, x + line * shape.size + start, y + line * shape.size + start);
      }
    });
  }
  const auto chunk_loop = DNN_PER_ISA(cumsum_block)[context];
  const AxisBlocks blocks(shape);
  Workspace workspace(context);
  double* all_sums = workspace.take<double>(threads_for(context, blocks.chunks) * AxisBlocks::kWidest);
  for_each_block(context, shape, blocks, [&](const AxisBlocks::Block& block, int64_t at, int thread) {
    double* sums = all_sums + thread * AxisBlocks::kWidest;
    chunk_loop(shape.size, step, block.width, x + at + start, sums, y + at + start);
  });
}

}  // namespace dnn::cpu
#endif
