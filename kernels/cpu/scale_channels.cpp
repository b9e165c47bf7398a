// y = x * scale, one factor for each channel of a picture, and both gradients in one pass: formulas in
// kernels/reference/scale_channels.h. Vectorised over the channels. Pictures are cut into parts of their pixels where
// there are few of them; the gradient of a factor is summed in float over some pixels, in double over these, and then
// over the parts in their order.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/scale_channels.cpp"
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

constexpr int64_t kAtOnce = 4;  // pixels for which a factor is loaded, or a sum loaded and stored, once

template <bool kStream>
void scale_rows(int64_t rows, int cols, const float* x, const float* scale, float* y) {
  int64_t row = 0;
  for (; row + kAtOnce <= rows; row += kAtOnce, x += kAtOnce * cols, y += kAtOnce * cols) {
    for_vectors(cols, [=](auto d, int64_t c) HWY_ATTR {
      const auto factor = hn::LoadU(d, scale + c);
#pragma GCC unroll 4
      for (int64_t i = 0; i < kAtOnce; ++i) {
        store<kStream>(hn::Mul(hn::LoadU(d, x + i * cols + c), factor), d, y + i * cols + c);
      }
    });
  }
  for (; row < rows; ++row, x += cols, y += cols) {
    for_vectors(cols, [=](auto d, int64_t c) HWY_ATTR {
      store<kStream>(hn::Mul(hn::LoadU(d, x + c), hn::LoadU(d, scale + c)), d, y + c);
    });
  }
  flush<kStream>();
}

void forward_part(bool stream, int64_t rows, int cols, const float* x, const float* scale, float* y) {
  stream ? scale_rows<true>(rows, cols, x, scale, y) : scale_rows<false>(rows, cols, x, scale, y);
}

// sums += the sums over `rows` pixels of x * dy, and dx = dy * scale where kDx.
template <bool kDx, int64_t kRows>
HWY_INLINE void add_products(int cols, const float* x, const float* scale, const float* dy, float* dx, float* sums) {
  for_vectors(cols, [=](auto d, int64_t c) HWY_ATTR {
    auto sum = hn::LoadU(d, sums + c);
    const auto factor = hn::LoadU(d, scale + c);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kRows; ++i) {
      const auto slope = hn::LoadU(d, dy + i * cols + c);
      sum = hn::MulAdd(hn::LoadU(d, x + i * cols + c), slope, sum);
      if constexpr (kDx) hn::StoreU(hn::Mul(slope, factor), d, dx + i * cols + c);
    }
    hn::StoreU(sum, d, sums + c);
  });
}

template <bool kDx>
void backward_rows(int64_t rows, int cols, const float* x, const float* scale, const float* dy, float* dx, float* sums,
                   double* totals) {
  constexpr int64_t kRowsOfFloatSums = 64;
  std::fill_n(totals, cols, 0.0);
  for (int64_t begin = 0; begin < rows; begin += kRowsOfFloatSums) {
    const int64_t end = std::min(rows, begin + kRowsOfFloatSums);
    std::fill_n(sums, cols, 0.0f);
    int64_t row = begin;
    for (; row + kAtOnce <= end; row += kAtOnce) {
      const int64_t at = row * cols;
      add_products<kDx, kAtOnce>(cols, x + at, scale, dy + at, kDx ? dx + at : nullptr, sums);
    }
    for (; row < end; ++row) {
      const int64_t at = row * cols;
      add_products<kDx, 1>(cols, x + at, scale, dy + at, kDx ? dx + at : nullptr, sums);
    }
    for (int c = 0; c < cols; ++c) totals[c] += sums[c];
  }
}

// `sums` is scratch; totals[c] = the sum of x * dy.
void backward_part(int64_t rows, int cols, const float* x, const float* scale, const float* dy, float* dx, float* sums,
                   double* totals) {
  dx ? backward_rows<true>(rows, cols, x, scale, dy, dx, sums, totals)
     : backward_rows<false>(rows, cols, x, scale, dy, dx, sums, totals);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// How the work is cut: pictures into parts, parts into chunks.
struct Parts {
  explicit Parts(const ChannelScaleShape& shape) {
    constexpr int64_t kFewestPixels = 64;
    if (shape.count() == 0) return;
    chunks = chunk_count(shape.count(), kChunkElements);
    per_picture = chunk_count(shape.pixels, kFewestPixels, (chunks + shape.n - 1) / shape.n);
    chunks = std::min(chunks, shape.n * per_picture);
  }
  int64_t per_picture = 1, chunks = 0;
};

// f(picture, part, first pixel of all, pixels, thread) for every part.
template <class F>
void for_each_part(Context& context, const ChannelScaleShape& shape, const Parts& parts, F&& f) {
  parallel_for(context, parts.chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(shape.n * parts.per_picture, parts.chunks, chunk);
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t n = i / parts.per_picture, part = i % parts.per_picture;
      const auto [begin, end] = chunk_range(shape.pixels, parts.per_picture, part);
      f(n, part, n * shape.pixels + begin, end - begin, thread);
    }
  });
}

}  // namespace

void scale_channels_forward(Context& context, const ChannelScaleShape& shape, const float* x, const float* scale,
                            float* y) {
  const auto part_loop = DNN_PER_ISA(forward_part)[context];
  const bool stream = shape.c % kLineFloats == 0 && worth_streaming(y, shape.count());
  for_each_part(context, shape, Parts(shape), [&](int64_t n, int64_t, int64_t first, int64_t pixels, int) {
    part_loop(stream, pixels, shape.c, x + first * shape.c, scale + n * shape.c, y + first * shape.c);
  });
}

void scale_channels_backward(Context& context, const ChannelScaleShape& shape, const float* x, const float* scale,
                             const float* dy, float* dx, float* dscale) {
  if (!dscale) return scale_channels_forward(context, shape, dy, scale, dx);
  const int64_t c = shape.c;
  if (shape.count() == 0) {
    std::fill_n(dscale, shape.n * c, 0.0f);
    return;
  }
  const auto part_loop = DNN_PER_ISA(backward_part)[context];
  const Parts parts(shape);
  Workspace workspace(context);
  float* sums = workspace.take<float>(threads_for(context, parts.chunks) * c);
  double* totals = workspace.take<double>(shape.n * parts.per_picture * c);
  for_each_part(context, shape, parts, [&](int64_t n, int64_t part, int64_t first, int64_t pixels, int thread) {
    part_loop(pixels, shape.c, x + first * c, scale + n * c, dy + first * c, dx ? dx + first * c : nullptr,
              sums + thread * c, totals + (n * parts.per_picture + part) * c);
  });
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t i = 0; i < c; ++i) {
      double total = 0;
      for (int64_t part = 0; part < parts.per_picture; ++part) total += totals[(n * parts.per_picture + part) * c + i];
      dscale[n * c + i] = static_cast<float>(total);
    }
  }
}

}  // namespace dnn::cpu
#endif
