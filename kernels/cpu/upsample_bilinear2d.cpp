// Pictures brought to another size by their nearest pixels in both directions: the rule is in
// kernels/reference/upsample2d.h. It is a weighted sum of rows and then one of columns: a row of the result comes from
// two rows, blended as a whole, and in it each pixel from two. The gradient takes the same steps the other way round:
// a row of dx sums the rows of dy that took from it, and in the sum each pixel those that took from it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/upsample_bilinear2d.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>
#include <kernels/windows.h>

#ifndef DNN_UPSAMPLE_BILINEAR2D_SIDE
#define DNN_UPSAMPLE_BILINEAR2D_SIDE
namespace dnn::cpu {
namespace {

// One direction: where each result comes from, and which results take from each cell: takers[i].begin up to, but
// without, takers[i].end.
struct Side {
  const BilinearSource* sources;
  const Range* takers;
};

// What result `taker` takes from cell i.
inline float weight_of(const Side& side, int64_t taker, int i) {
  const auto& source = side.sources[taker];
  return static_cast<float>((source.first == i ? 1 - source.weight : 0) + (source.second == i ? source.weight : 0));
}

}  // namespace
}  // namespace dnn::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// y = (1 - weight) * a + weight * b
template <bool kStream>
HWY_INLINE void blend(int64_t count, double weight, const float* a, const float* b, float* y) {
  const float of_a = static_cast<float>(1 - weight), of_b = static_cast<float>(weight);
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
    const auto first = hn::Mul(hn::Set(d, of_a), hn::LoadU(d, a + i));
    store<kStream>(hn::MulAdd(hn::Set(d, of_b), hn::LoadU(d, b + i), first), d, y + i);
  });
}

template <bool kStream>
void forward_rows(const ResizeShape& p, const Side& rows, const Side& columns, Range range, const float* x,
                  float* blended, float* y) {
  const int64_t x_row = int64_t{p.w} * p.c, c = p.c;
  for (int64_t row = range.begin; row < range.end; ++row) {
    const auto& source = rows.sources[row % p.oh];
    const float* picture = x + row / p.oh * p.h * x_row;
    blend<false>(x_row, source.weight, picture + source.first * x_row, picture + source.second * x_row, blended);
    float* to = y + row * p.ow * c;
    for (int ox = 0; ox < p.ow; ++ox, to += c) {
      const auto& from = columns.sources[ox];
      blend<kStream>(c, from.weight, blended + from.first * c, blended + from.second * c, to);
    }
  }
  flush<kStream>();
}

// Output rows [range.begin, range.end) of all pictures. `blended` is scratch of a row of x. `stream`: see store().
void forward_chunk(const ResizeShape& p, const Side& rows, const Side& columns, bool stream, Range range,
                   const float* x, float* blended, float* y) {
  stream ? forward_rows<true>(p, rows, columns, range, x, blended, y)
         : forward_rows<false>(p, rows, columns, range, x, blended, y);
}

// y = weight * x, added to what is there unless `first`.
HWY_INLINE void add_scaled(bool first, int64_t count, float weight, const float* x, float* y) {
  if (first) {
    for_vectors(count, [=](auto d, int64_t i)
                           HWY_ATTR { hn::StoreU(hn::Mul(hn::Set(d, weight), hn::LoadU(d, x + i)), d, y + i); });
  } else {
    for_vectors(count, [=](auto d, int64_t i) HWY_ATTR {
      hn::StoreU(hn::MulAdd(hn::Set(d, weight), hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
    });
  }
}

// Input rows [range.begin, range.end) of all pictures. `summed` is scratch of a row of dy.
void backward_chunk(const ResizeShape& p, const Side& rows, const Side& columns, Range range, const float* dy,
                    float* summed, float* dx) {
  const int64_t y_row = int64_t{p.ow} * p.c, c = p.c;
  for (int64_t row = range.begin; row < range.end; ++row) {
    const int iy = static_cast<int>(row % p.h);
    const auto [row_begin, row_end] = rows.takers[iy];
    float* to = dx + row * p.w * c;
    if (row_begin == row_end) {
      std::fill_n(to, p.w * c, 0.0f);
      continue;
    }
    const float* picture = dy + row / p.h * p.oh * y_row;
    for (int64_t oy = row_begin; oy < row_end; ++oy) {
      add_scaled(oy == row_begin, y_row, weight_of(rows, oy, iy), picture + oy * y_row, summed);
    }
    for (int ix = 0; ix < p.w; ++ix, to += c) {
      const auto [begin, end] = columns.takers[ix];
      if (begin == end) std::fill_n(to, c, 0.0f);
      for (int64_t ox = begin; ox < end; ++ox) {
        add_scaled(ox == begin, c, weight_of(columns, ox, ix), summed + ox * c, to);
      }
    }
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

Side side_of(int in, int out, double scale, bool align_corners, Workspace& workspace) {
  auto* sources = workspace.take<BilinearSource>(out);
  auto* takers = workspace.take<Range>(in);
  std::fill_n(takers, in, Range{0, 0});
  const auto take = [&](int cell, int64_t taker) {
    Range& range = takers[cell];
    if (range.end == 0) range.begin = taker;
    range.end = taker + 1;
  };
  for (int i = 0; i < out; ++i) {
    sources[i] = bilinear_source(i, in, out, scale, align_corners);
    take(sources[i].first, i);
    take(sources[i].second, i);
  }
  return {sources, takers};
}

}  // namespace

void upsample_bilinear2d_forward(Context& context, const ResizeShape& p, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  Workspace workspace(context);
  const Side rows = side_of(p.h, p.oh, p.scale_h, p.align_corners, workspace);
  const Side columns = side_of(p.w, p.ow, p.scale_w, p.align_corners, workspace);
  const int64_t count = int64_t{p.n} * p.oh, width = int64_t{p.w} * p.c;
  const int64_t chunks = std::min(count, chunk_count(p.y_pixels() * p.c, kChunkElements));
  const bool stream = p.c % kLineFloats == 0 && worth_streaming(y, p.y_pixels() * p.c);
  float* blended = workspace.take<float>(threads_for(context, chunks) * width);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    chunk_loop(p, rows, columns, stream, chunk_range(count, chunks, chunk), x, blended + thread * width, y);
  });
}

void upsample_bilinear2d_backward(Context& context, const ResizeShape& p, const float* dy, float* dx) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  Workspace workspace(context);
  const Side rows = side_of(p.h, p.oh, p.scale_h, p.align_corners, workspace);
  const Side columns = side_of(p.w, p.ow, p.scale_w, p.align_corners, workspace);
  const int64_t count = int64_t{p.n} * p.h, width = int64_t{p.ow} * p.c;
  const int64_t chunks = std::min(count, chunk_count(std::max(p.x_pixels(), p.y_pixels()) * p.c, kChunkElements));
  float* summed = workspace.take<float>(threads_for(context, chunks) * width);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    chunk_loop(p, rows, columns, chunk_range(count, chunks, chunk), dy, summed + thread * width, dx);
  });
}

}  // namespace dnn::cpu
#endif
