// The mean of each window: the formula is in kernels/reference/adaptive_pool2d.h. One window for all is the mean over
// the pixels, a sum; other windows are summed one by one, vectorised over the channels. The gradient goes through dx
// once: each pixel gathers from the windows that cover it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/adaptive_avg_pool2d.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/cpu/simd/window_sum-inl.h>
#include <kernels/cpu/sum.h>
#include <kernels/parallel.h>
#include <kernels/windows.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// Output pixels [range.begin, range.end) of all pictures.
void forward_chunk(const ResizeShape& p, Range range, const float* x, float* y) {
  const int64_t row_pitch = int64_t{p.w} * p.c;
  for (int64_t pixel = range.begin; pixel < range.end; ++pixel) {
    const int64_t row = pixel / p.ow;
    const auto rows = adaptive_window(row % p.oh, p.h, p.oh);
    const auto columns = adaptive_window(pixel % p.ow, p.w, p.ow);
    const float* first = x + (row / p.oh * p.h + rows.begin) * row_pitch + int64_t{columns.begin} * p.c;
    const double cells = static_cast<double>(rows.size()) * columns.size();
    for_vectors(p.c, [&](auto d, int64_t c) HWY_ATTR {
      hn::StoreU(average_cells(d, first + c, rows.size(), columns.size(), row_pitch, p.c, cells), d,
                 y + pixel * p.c + c);
    });
  }
}

template <bool kStream>
void backward_rows(const ResizeShape& p, const float* row_shares, const float* column_shares, Range range,
                   const float* dy, float* dx) {
  for (int64_t row = range.begin; row < range.end; ++row) {
    const auto rows = adaptive_window(row % p.h, p.oh, p.h);
    const float* picture = dy + row / p.h * p.oh * p.ow * p.c;
    for (int ix = 0; ix < p.w; ++ix) {
      const auto columns = adaptive_window(ix, p.ow, p.w);
      float* to = dx + (row * p.w + ix) * p.c;
      if (rows.size() == 1 && columns.size() == 1) {
        const float share = row_shares[rows.begin] * column_shares[columns.begin];
        const float* from = picture + (int64_t{rows.begin} * p.ow + columns.begin) * p.c;
        for_vectors(p.c, [=](auto d, int64_t c) HWY_ATTR {
          store<kStream>(hn::Mul(hn::Set(d, share), hn::LoadU(d, from + c)), d, to + c);
        });
        continue;
      }
      for_vectors(p.c, [&](auto d, int64_t c) HWY_ATTR {
        auto sum = hn::Zero(d);
        for (int oy = rows.begin; oy < rows.end; ++oy) {
          for (int ox = columns.begin; ox < columns.end; ++ox) {
            const auto share = hn::Set(d, row_shares[oy] * column_shares[ox]);
            sum = hn::MulAdd(share, hn::LoadU(d, picture + (int64_t{oy} * p.ow + ox) * p.c + c), sum);
          }
        }
        store<kStream>(sum, d, to + c);
      });
    }
  }
  flush<kStream>();
}

// Input rows [range.begin, range.end) of all pictures. `stream`: see store().
void backward_chunk(const ResizeShape& p, const float* row_shares, const float* column_shares, bool stream, Range range,
                    const float* dy, float* dx) {
  stream ? backward_rows<true>(p, row_shares, column_shares, range, dy, dx)
         : backward_rows<false>(p, row_shares, column_shares, range, dy, dx);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// 1 / cells for each of `out` windows on `in` cells.
const float* shares_of(int in, int out, Workspace& workspace) {
  float* shares = workspace.take<float>(out);
  for (int i = 0; i < out; ++i) shares[i] = 1.0f / static_cast<float>(adaptive_window(i, in, out).size());
  return shares;
}

}  // namespace

void adaptive_avg_pool2d_forward(Context& context, const ResizeShape& p, const float* x, float* y) {
  if (p.oh == 1 && p.ow == 1) {
    const int64_t pixels = int64_t{p.h} * p.w;
    const ReduceShape over_pixels{3, {p.n, pixels, p.c}, {false, true, false}};
    if (p.x_pixels() == 0) return;
    return sum(context, over_pixels, 1.0 / static_cast<double>(pixels), x, y);
  }
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  const int64_t pixels = p.y_pixels(), count = std::max(p.x_pixels(), pixels) * p.c;
  const int64_t chunks = std::min(pixels, chunk_count(count, kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) { chunk_loop(p, chunk_range(pixels, chunks, chunk), x, y); });
}

void adaptive_avg_pool2d_backward(Context& context, const ResizeShape& p, const float* dy, float* dx) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  Workspace workspace(context);
  const float* row_shares = shares_of(p.h, p.oh, workspace);
  const float* column_shares = shares_of(p.w, p.ow, workspace);
  const int64_t rows = int64_t{p.n} * p.h, count = p.x_pixels() * p.c;
  const int64_t chunks = std::min(rows, chunk_count(std::max(count, p.y_pixels() * p.c), kChunkElements));
  const bool stream = p.c % kLineFloats == 0 && worth_streaming(dx, count);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    chunk_loop(p, row_shares, column_shares, stream, chunk_range(rows, chunks, chunk), dy, dx);
  });
}

}  // namespace dnn::cpu
#endif
