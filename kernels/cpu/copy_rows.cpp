// Rows of values from one pitch to another: concat and split.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/copy_rows.cpp"
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

template <bool kStream>
void copy_loop(int64_t rows, int64_t cols, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * x_pitch;
    float* to = y + row * y_pitch;
    for_vectors(cols, [=](auto d, int64_t i) HWY_ATTR { store<kStream>(hn::LoadU(d, from + i), d, to + i); });
  }
  flush<kStream>();
}

void copy_chunk(bool stream, int64_t rows, int64_t cols, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  stream ? copy_loop<true>(rows, cols, x_pitch, x, y_pitch, y) : copy_loop<false>(rows, cols, x_pitch, x, y_pitch, y);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void copy_rows(Context& context, const RowsShape& shape, int64_t x_pitch, const float* x, int64_t y_pitch, float* y) {
  const auto chunk_loop = DNN_PER_ISA(copy_chunk)[context];
  const int64_t count = shape.count();
  if (count == 0) return;
  if (shape.rows == 1 || (x_pitch == shape.cols && y_pitch == shape.cols)) {
    const int64_t chunks = chunk_count(count, kChunkElements);
    const bool stream = worth_streaming(y, count);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      const auto [begin, end] = line_range(count, chunks, chunk);
      chunk_loop(stream, 1, end - begin, 0, x + begin, 0, y + begin);
    });
  } else {
    const int64_t chunks = std::min(shape.rows, chunk_count(count, kChunkElements));
    const bool stream = shape.cols % kLineFloats == 0 && y_pitch % kLineFloats == 0 && worth_streaming(y, count);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      const auto [begin, end] = chunk_range(shape.rows, chunks, chunk);
      chunk_loop(stream, end - begin, shape.cols, x_pitch, x + begin * x_pitch, y_pitch, y + begin * y_pitch);
    });
  }
}

}  // namespace dnn::cpu
#endif
