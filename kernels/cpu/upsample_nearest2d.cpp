// Pictures brought to another size by their nearest pixels: the rule is in kernels/windows.h. The gradient
// goes through dx once: the results that take a pixel are a rectangle, whose sum it gathers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/upsample_nearest2d.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/cpu/simd/window_sum-inl.h>
#include <kernels/parallel.h>
#include <kernels/windows.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <bool kStream>
HWY_INLINE void copy_run(int64_t count, const float* x, float* y) {
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR { store<kStream>(hn::LoadU(d, x + i), d, y + i); });
}

template <bool kStream>
void forward_rows(const ResizeShape& p, const int* columns, Range range, const float* x, float* y) {
  for (int64_t row = range.begin; row < range.end; ++row) {
    const int iy = nearest_source(row % p.oh, p.h, p.oh, p.scale_h, p.exact);
    const float* from = x + (row / p.oh * p.h + iy) * p.w * p.c;
    float* to = y + row * p.ow * p.c;
    if (p.w == p.ow && p.scale_w == 0) {
      copy_run<kStream>(int64_t{p.w} * p.c, from, to);
      continue;
    }
    for (int64_t ox = 0; ox < p.ow; ++ox) copy_run<kStream>(p.c, from + int64_t{columns[ox]} * p.c, to + ox * p.c);
  }
  flush<kStream>();
}

// Output rows [range.begin, range.end) of all pictures, from the pictures' columns. `stream`: see store().
void forward_chunk(const ResizeShape& p, const int* columns, bool stream, Range range, const float* x, float* y) {
  stream ? forward_rows<true>(p, columns, range, x, y) : forward_rows<false>(p, columns, range, x, y);
}

// Input rows [range.begin, range.end) of all pictures. Pixel i is taken by the results first_taker(i) ... up to, but
// without, first_taker(i + 1).
void backward_chunk(const ResizeShape& p, const int* first_row_taker, const int* first_column_taker, Range range,
                    const float* dy, float* dx) {
  constexpr int64_t kLarge = 1024;
  const int64_t row_pitch = int64_t{p.ow} * p.c;
  for (int64_t row = range.begin; row < range.end; ++row) {
    const int* takers = first_row_taker + row % p.h;
    const int rows = takers[1] - takers[0];
    const float* picture_row = dy + (row / p.h * p.oh + takers[0]) * row_pitch;
    for (int ix = 0; ix < p.w; ++ix) {
      const int first = first_column_taker[ix], columns = first_column_taker[ix + 1] - first;
      const float* from = picture_row + int64_t{first} * p.c;
      float* to = dx + (row * p.w + ix) * p.c;
      for_vectors(p.c, [&](auto d, int64_t c) HWY_ATTR {
        const auto sum = int64_t{rows} * columns > kLarge ? average_large(d, from + c, rows, columns, row_pitch, p.c, 1)
                                                          : sum_cells(d, from + c, rows, columns, row_pitch, p.c);
        hn::StoreU(sum, d, to + c);
      });
    }
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// For i in [0, in]: the first result whose source is i or beyond.
const int* first_takers(int in, int out, double scale, bool exact, Workspace& workspace) {
  int* first = workspace.take<int>(in + 1);
  int taker = 0;
  for (int i = 0; i <= in; ++i) {
    while (taker < out && nearest_source(taker, in, out, scale, exact) < i) ++taker;
    first[i] = taker;
  }
  return first;
}

}  // namespace

void upsample_nearest2d_forward(Context& context, const ResizeShape& p, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  Workspace workspace(context);
  int* columns = workspace.take<int>(p.ow);
  for (int ox = 0; ox < p.ow; ++ox) columns[ox] = nearest_source(ox, p.w, p.ow, p.scale_w, p.exact);
  const int64_t rows = int64_t{p.n} * p.oh, count = p.y_pixels() * p.c;
  const int64_t chunks = std::min(rows, chunk_count(count, kChunkElements));
  const bool stream = p.c % kLineFloats == 0 && worth_streaming(y, count);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(p, columns, stream, chunk_range(rows, chunks, chunk), x, y); });
}

void upsample_nearest2d_backward(Context& context, const ResizeShape& p, const float* dy, float* dx) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  Workspace workspace(context);
  const int* row_takers = first_takers(p.h, p.oh, p.scale_h, p.exact, workspace);
  const int* column_takers = first_takers(p.w, p.ow, p.scale_w, p.exact, workspace);
  const int64_t rows = int64_t{p.n} * p.h, count = std::max(p.x_pixels(), p.y_pixels()) * p.c;
  const int64_t chunks = std::min(rows, chunk_count(count, kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    chunk_loop(p, row_takers, column_takers, chunk_range(rows, chunks, chunk), dy, dx);
  });
}

}  // namespace dnn::cpu
#endif
