// y's dimension i is x's dimension axes[i]: tiles of whole cache lines, transposed in registers, so that both sides are
// read and written line by line.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/transpose.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/cpu/transpose_plan.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

void transpose_any(int64_t a_size, int64_t b_size, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  for (int64_t a = 0; a < a_size; ++a) {
    for (int64_t b = 0; b < b_size; ++b) y[a * y_pitch + b] = x[b * x_pitch + a];
  }
}

#if HWY_TARGET != HWY_SCALAR

// 8 x 8 values.
HWY_INLINE void transpose_8x8(int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  const hn::CappedTag<float, 8> d;
  const hn::Repartition<uint64_t, decltype(d)> pairs;
  hn::Vec<decltype(d)> row[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) row[i] = hn::LoadU(d, x + i * x_pitch);
  const auto join = [&](auto low, auto high, bool upper) HWY_ATTR {
    const auto l = hn::BitCast(pairs, low), h = hn::BitCast(pairs, high);
    return hn::BitCast(d, upper ? hn::InterleaveUpper(pairs, l, h) : hn::InterleaveLower(pairs, l, h));
  };
  // quad[i]: column i of the first four rows in its lower half, column i + 4 in its upper; quad[i + 4] of the others.
  hn::Vec<decltype(d)> quad[8];
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    const auto low_01 = hn::InterleaveLower(d, row[i], row[i + 1]),
               high_01 = hn::InterleaveUpper(d, row[i], row[i + 1]);
    const auto low_23 = hn::InterleaveLower(d, row[i + 2], row[i + 3]);
    const auto high_23 = hn::InterleaveUpper(d, row[i + 2], row[i + 3]);
    quad[i] = join(low_01, low_23, false);
    quad[i + 1] = join(low_01, low_23, true);
    quad[i + 2] = join(high_01, high_23, false);
    quad[i + 3] = join(high_01, high_23, true);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    hn::StoreU(hn::ConcatLowerLower(d, quad[i + 4], quad[i]), d, y + i * y_pitch);
    hn::StoreU(hn::ConcatUpperUpper(d, quad[i + 4], quad[i]), d, y + (i + 4) * y_pitch);
  }
}

#endif

void transpose_block(int64_t a_size, int64_t b_size, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  int64_t b_done = 0, a_done = 0;
#if HWY_TARGET != HWY_SCALAR
  b_done = b_size / 8 * 8;
  a_done = a_size / 8 * 8;
  for (int64_t b0 = 0; b0 < b_done; b0 += kLineFloats) {
    for (int64_t a0 = 0; a0 < a_done; a0 += kLineFloats) {
      for (int64_t a = a0; a < std::min(a0 + kLineFloats, a_done); a += 8) {
        for (int64_t b = b0; b < std::min(b0 + kLineFloats, b_done); b += 8) {
          transpose_8x8(x_pitch, x + b * x_pitch + a, y_pitch, y + a * y_pitch + b);
        }
      }
    }
  }
#endif
  transpose_any(a_done, b_size - b_done, x_pitch, x + b_done * x_pitch, y_pitch, y + b_done);
  transpose_any(a_size - a_done, b_size, x_pitch, x + a_done, y_pitch, y + a_done * y_pitch);
}

void copy_row(int64_t count, const float* x, float* y) {
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR { hn::StoreU(hn::LoadU(d, x + i), d, y + i); });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

void copy_rows_of(Context& context, const TransposePlan& plan, const float* x, float* y) {
  const auto copy = DNN_PER_ISA(copy_row)[context];
  const int64_t rows = plan.x_outer.count;
  const int64_t chunks = std::min(rows, chunk_count(rows * plan.b_size, kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(rows, chunks, chunk);
    Walk row(plan.x_outer, range.begin);
    for (int64_t i = range.begin; i < range.end; ++i, row.next())
      copy(plan.b_size, x + row.offset(), y + i * plan.b_size);
  });
}

void transpose_planes(Context& context, const TransposePlan& plan, const float* x, float* y) {
  const auto block = DNN_PER_ISA(transpose_block)[context];
  // Blocks of about 4096 values, longer where the other side is short.
  constexpr int64_t kSide = 64;
  const auto side = [](int64_t other) {
    return other >= kSide ? kSide : kSide * kSide / other / kLineFloats * kLineFloats;
  };
  const int64_t a_side = side(plan.b_size), b_side = side(plan.a_size);
  const int64_t a_blocks = (plan.a_size + a_side - 1) / a_side, b_blocks = (plan.b_size + b_side - 1) / b_side;
  const int64_t tasks = plan.x_outer.count * a_blocks * b_blocks;
  const int64_t count = plan.x_outer.count * plan.a_size * plan.b_size;
  const int64_t chunks = std::min(tasks, chunk_count(count, kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(tasks, chunks, chunk);
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t a = task % a_blocks * a_side, b = task / a_blocks % b_blocks * b_side;
      const int64_t outer = task / (a_blocks * b_blocks);
      block(std::min(a_side, plan.a_size - a), std::min(b_side, plan.b_size - b), plan.x_pitch,
            x + Walk(plan.x_outer, outer).offset() + b * plan.x_pitch + a, plan.y_pitch,
            y + Walk(plan.y_outer, outer).offset() + a * plan.y_pitch + b);
    }
  });
}

}  // namespace

void transpose(Context& context, const TransposeShape& shape, const float* x, float* y) {
  if (shape.count() == 0) return;
  const TransposePlan plan(shape);
  plan.rows ? copy_rows_of(context, plan, x, y) : transpose_planes(context, plan, x, y);
}

}  // namespace dnn::cpu
#endif
