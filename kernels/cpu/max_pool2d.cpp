// y = the largest value of each window, index = its cell (row of the window * s + column), the first of equals; a NaN
// counts as largest. Vectorised over the channels. The gradient goes through dx once: each pixel gathers from the
// windows that cover it, in their order, so that no two chunks write the same place.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/max_pool2d.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/pooling.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

struct NoIndex {};

// Of more than 256 cells: no loops of their own for windows of 2x2 and 3x3.
template <class Index>
constexpr bool kLargeWindows = std::is_same_v<Index, int32_t>;

template <class Index, class D, class V>
HWY_INLINE void store_index(D, V cell, Index* index) {
  const hn::Rebind<Index, D> narrow;
  if constexpr (sizeof(Index) == sizeof(int32_t)) {
    hn::StoreU(cell, narrow, index);
  } else {
    hn::StoreU(hn::DemoteTo(narrow, cell), narrow, index);
  }
}

template <class Index, class D>
HWY_INLINE hn::Vec<hn::Rebind<int32_t, D>> load_index(D, const Index* index) {
  const hn::Rebind<int32_t, D> di;
  const hn::Rebind<Index, D> narrow;
  if constexpr (sizeof(Index) == sizeof(int32_t)) {
    return hn::LoadU(di, index);
  } else {
    return hn::PromoteTo(di, hn::LoadU(narrow, index));
  }
}

// The cells of a window that lie in the picture: rows [r0, r1), columns [s0, s1). Its cell (0, 0) may lie outside.
struct Window {
  int r0, r1, s0, s1;

  bool empty() const { return r0 >= r1 || s0 >= s1; }
};

// One output pixel; x is cell (0, 0) of its window, kR x kS its size where all of it lies in the picture, else 0. The
// pitches are those from one cell to the next.
template <int kR, int kS, class Index>
HWY_INLINE void max_of_window(const Pool2dShape& p, Window window, int64_t row_pitch, int64_t pitch, const float* x,
                              float* y, Index* index) {
  constexpr bool kIndex = !std::is_same_v<Index, NoIndex>;
  if constexpr (kR > 0) window = {0, kR, 0, kS};
  if (kR == 0 && window.empty()) {
    std::fill_n(y, p.c, -std::numeric_limits<float>::infinity());
    if constexpr (kIndex) std::fill_n(index, p.c, Index{0});
    return;
  }
  const int columns = kS ? kS : p.s;
  for_vectors(p.c, [&](auto d, int64_t c) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    // From the last cell to the first: the first of equals, or of the NaN, stays.
    auto largest = hn::LoadU(d, x + (window.r1 - 1) * row_pitch + (window.s1 - 1) * pitch + c);
    auto cell = hn::Set(di, (window.r1 - 1) * columns + window.s1 - 1);
#pragma GCC unroll 8
    for (int r = window.r1 - 1; r >= window.r0; --r) {
#pragma GCC unroll 8
      for (int s = window.s1 - 1; s >= window.s0; --s) {
        const auto v = hn::LoadU(d, x + r * row_pitch + s * pitch + c);
        const auto takes = hn::Or(hn::Ge(v, largest), hn::IsNaN(v));
        if constexpr (kIndex) cell = hn::IfThenElse(hn::RebindMask(di, takes), hn::Set(di, r * columns + s), cell);
        largest = hn::IfThenElse(takes, v, largest);
      }
    }
    hn::StoreU(largest, d, y + c);
    if constexpr (kIndex) store_index(d, cell, index + c);
  });
}

// One row of output pixels. kR x kS: the size of the window, 0 for any.
template <int kR, int kS, class Index>
void forward_row(const Pool2dShape& p, int oh, const float* image, float* y, Index* index) {
  constexpr int64_t kIndexPitch = std::is_same_v<Index, NoIndex> ? 0 : 1;
  const int top = oh * p.stride_h - p.pad_top, windows = p.ow();
  const Cells rows = cells_inside(top, p.h, p.r, p.dilation_h);
  const int64_t pitch = p.x_pitch(), row_pitch = pitch * p.w, y_pitch = p.y_pitch(), index_pitch = kIndexPitch * p.c;
  const auto run = [&]<int kRows, int kColumns>(int ow) HWY_ATTR {
    const int left = ow * p.stride_w - p.pad_left;
    const Cells columns = cells_inside(left, p.w, p.s, p.dilation_w);
    const Window window{rows.begin, rows.end, columns.begin, columns.end};
    max_of_window<kRows, kColumns>(p, window, row_pitch * p.dilation_h, pitch * p.dilation_w,
                                   image + top * row_pitch + left * pitch, y + ow * y_pitch, index + ow * index_pitch);
  };
  // The windows [begin, end) lie in the picture as a whole.
  int begin = 0, end = 0;
  if (kR > 0 && rows.end - rows.begin == p.r && p.w + p.pad_left >= p.extent_w()) {
    begin = std::min(windows, (p.pad_left + p.stride_w - 1) / p.stride_w);
    end = std::clamp((p.w + p.pad_left - p.extent_w()) / p.stride_w + 1, begin, windows);
  }
  for (int ow = 0; ow < begin; ++ow) run.template operator()<0, 0>(ow);
  for (int ow = begin; ow < end; ++ow) run.template operator()<kR, kS>(ow);
  for (int ow = end; ow < windows; ++ow) run.template operator()<0, 0>(ow);
}

template <class Index>
void forward_rows(const Pool2dShape& p, Range rows, const float* x, float* y, Index* index) {
  const int oh = p.oh(), ow = p.ow();
  auto row_loop = forward_row<0, 0, Index>;
  if constexpr (!kLargeWindows<Index>) {
    if (p.r == 2 && p.s == 2) row_loop = forward_row<2, 2, Index>;
    if (p.r == 3 && p.s == 3) row_loop = forward_row<3, 3, Index>;
  }
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    Index* row_index = nullptr;
    if constexpr (!std::is_same_v<Index, NoIndex>) row_index = index + row * ow * p.c;
    row_loop(p, static_cast<int>(row % oh), x + row / oh * p.h * p.w * p.x_pitch(), y + row * ow * p.y_pitch(),
             row_index);
  }
}

// Output rows [rows.begin, rows.end) of all pictures.
void forward_chunk(const Pool2dShape& p, Range rows, const float* x, float* y, void* index) {
  if (!index) return forward_rows<NoIndex>(p, rows, x, y, nullptr);
  if (p.byte_index()) return forward_rows(p, rows, x, y, static_cast<uint8_t*>(index));
  return forward_rows(p, rows, x, y, static_cast<int32_t*>(index));
}

// dy where its index is `cell`, else 0.
template <class Index, class D>
HWY_INLINE hn::Vec<D> routed(D d, const float* dy, const Index* index, int32_t cell) {
  const hn::RebindToSigned<D> di;
  const auto here = hn::Eq(load_index(d, index), hn::Set(di, cell));
  return hn::IfThenElseZero(hn::RebindMask(d, here), hn::LoadU(d, dy));
}

// Gradients where no pixel lies under two windows: each window writes its cells, and 0 up to the next one.

void zero_pixels(int64_t count, int channels, int64_t pitch, float* dx) {
  if (pitch == channels) {
    std::fill_n(dx, count * channels, 0.0f);
  } else {
    for (int64_t i = 0; i < count; ++i) std::fill_n(dx + i * pitch, channels, 0.0f);
  }
}

template <int kR, int kS, bool kStream, class Index>
HWY_INLINE void spread_window(const Pool2dShape& p, Window window, int64_t row_pitch, int64_t pitch, const float* dy,
                              const Index* index, float* dx) {
  if constexpr (kR > 0) window = {0, kR, 0, kS};
  const int columns = kS ? kS : p.s;
  for_vectors(p.c, [&](auto d, int64_t c) HWY_ATTR {
#pragma GCC unroll 8
    for (int r = window.r0; r < window.r1; ++r) {
#pragma GCC unroll 8
      for (int s = window.s0; s < window.s1; ++s) {
        store<kStream>(routed(d, dy + c, index + c, r * columns + s), d, dx + r * row_pitch + s * pitch + c);
      }
    }
  });
}

// The windows of output row `oh`; dx is the picture.
template <int kR, int kS, bool kStream, class Index>
void spread_row(const Pool2dShape& p, int oh, const float* dy, const Index* index, float* dx) {
  const int windows = p.ow(), top = oh * p.stride_h - p.pad_top;
  const int64_t pitch = p.x_pitch(), row_pitch = pitch * p.w, y_pitch = p.y_pitch();
  const int r0 = std::max(0, -top), r1 = std::min(p.r, p.h - top);
  for (int ow = 0; ow < windows; ++ow) {
    const int left = ow * p.stride_w - p.pad_left;
    const Window window{r0, r1, std::max(0, -left), std::min(p.s, p.w - left)};
    float* corner = dx + top * row_pitch + left * pitch;
    if (kR > 0 && r1 - r0 == p.r && window.s1 - window.s0 == p.s) {
      spread_window<kR, kS, kStream>(p, window, row_pitch, pitch, dy + ow * y_pitch, index + int64_t{ow} * p.c, corner);
    } else {
      spread_window<0, 0, kStream>(p, window, row_pitch, pitch, dy + ow * y_pitch, index + int64_t{ow} * p.c, corner);
    }
    const int gap = (ow + 1 < windows ? p.stride_w : p.w - left) - window.s1;
    if (gap == 0) continue;
    for (int r = r0; r < r1; ++r) zero_pixels(gap, p.c, pitch, corner + r * row_pitch + window.s1 * pitch);
  }
  const int gap = (oh + 1 < p.oh() ? p.stride_h : p.h - top) - r1;
  zero_pixels(int64_t{gap} * p.w, p.c, pitch, dx + (top + r1) * row_pitch);
}

// Gradients where windows overlap: each pixel gathers from those that cover it, in their order.

// One pixel of dx under rows x columns windows, the first of which has its gradient at dy and the pixel as its `cell`.
// kRows x kColumns: their number, 0 for any.
template <int kRows, int kColumns, bool kStream, class Index>
HWY_INLINE void gather_pixel(const Pool2dShape& p, int rows, int columns, int64_t y_row_pitch, int64_t index_row_pitch,
                             const float* dy, const Index* index, int32_t cell, float* dx) {
  if (kRows) rows = kRows;
  if (kColumns) columns = kColumns;
  const int64_t y_pitch = p.y_pitch(), channels = p.c;
  const int32_t row_cells = p.stride_h * p.s, column_cells = p.stride_w;
  for_vectors(channels, [=](auto d, int64_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
#pragma GCC unroll 4
    for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (int column = 0; column < columns; ++column) {
        const auto v = routed(d, dy + row * y_row_pitch + column * y_pitch + c,
                              index + row * index_row_pitch + column * channels + c,
                              cell - row * row_cells - column * column_cells);
        sum = row == 0 && column == 0 ? v : hn::Add(sum, v);
      }
    }
    store<kStream>(sum, d, dx + c);
  });
}

// Row h of dx, which lies under the windows `rows`; dy and index belong to its picture.
template <bool kStream, class Index>
void gather_row(const Pool2dShape& p, int h, Covering rows, const Covering* columns, const float* dy,
                const Index* index, float* dx) {
  const int64_t windows = p.ow(), y_row_pitch = windows * p.y_pitch(), index_row_pitch = windows * p.c;
  const int row_count = rows.end - rows.begin;
  for (int w = 0; w < p.w; ++w, dx += p.x_pitch()) {
    const int begin = columns[w].begin, end = columns[w].end;
    const int64_t first = rows.begin * windows + begin;
    const int32_t cell = (h + p.pad_top - rows.begin * p.stride_h) * p.s + w + p.pad_left - begin * p.stride_w;
    const auto run = [&]<int kRows, int kColumns>() HWY_ATTR {
      gather_pixel<kRows, kColumns, kStream>(p, row_count, end - begin, y_row_pitch, index_row_pitch,
                                             dy + first * p.y_pitch(), index + first * p.c, cell, dx);
    };
    // The counts of a window of 3x3 with stride 2.
    if constexpr (kLargeWindows<Index>) {
      run.template operator()<0, 0>();
    } else if (row_count == 1 && end - begin == 1) {
      run.template operator()<1, 1>();
    } else if (row_count == 1 && end - begin == 2) {
      run.template operator()<1, 2>();
    } else if (row_count == 2 && end - begin == 1) {
      run.template operator()<2, 1>();
    } else if (row_count == 2 && end - begin == 2) {
      run.template operator()<2, 2>();
    } else {
      run.template operator()<0, 0>();
    }
  }
}

// The same where the window's cells are apart: of the windows that span a pixel, those count that have a cell on it.
template <class Index>
void gather_dilated_row(const Pool2dShape& p, int h, Covering rows, const Covering* columns, const float* dy,
                        const Index* index, float* dx) {
  for (int w = 0; w < p.w; ++w, dx += p.x_pitch()) {
    std::fill_n(dx, p.c, 0.0f);
    for (int oh = rows.begin; oh < rows.end; ++oh) {
      const int down = h + p.pad_top - oh * p.stride_h;
      if (down % p.dilation_h != 0) continue;
      for (int ow = columns[w].begin; ow < columns[w].end; ++ow) {
        const int right = w + p.pad_left - ow * p.stride_w;
        if (right % p.dilation_w != 0) continue;
        const int64_t window = int64_t{oh} * p.ow() + ow;
        const int32_t cell = down / p.dilation_h * p.s + right / p.dilation_w;
        for_vectors(p.c, [&](auto d, int64_t c) HWY_ATTR {
          const auto v = routed(d, dy + window * p.y_pitch() + c, index + window * p.c + c, cell);
          hn::StoreU(hn::Add(hn::LoadU(d, dx + c), v), d, dx + c);
        });
      }
    }
  }
}

template <bool kStream, class Index>
void spread_rows(const Pool2dShape& p, Range range, const float* dy, const Index* index, float* dx) {
  const int oh = p.oh(), ow = p.ow();
  auto row_loop = spread_row<0, 0, kStream, Index>;
  if constexpr (!kLargeWindows<Index>) {
    if (p.r == 2 && p.s == 2) row_loop = spread_row<2, 2, kStream, Index>;
  }
  for (int64_t row = range.begin; row < range.end; ++row) {
    row_loop(p, static_cast<int>(row % oh), dy + row * ow * p.y_pitch(), index + row * ow * p.c,
             dx + row / oh * p.h * p.w * p.x_pitch());
  }
  flush<kStream>();
}

template <bool kStream, class Index>
void gather_rows(const Pool2dShape& p, const Covering* rows, const Covering* columns, Range range, const float* dy,
                 const Index* index, float* dx) {
  const int64_t windows = int64_t{p.oh()} * p.ow();
  const auto row_loop = p.dilated() ? gather_dilated_row<Index> : gather_row<kStream, Index>;
  for (int64_t row = range.begin; row < range.end; ++row) {
    const int h = static_cast<int>(row % p.h);
    const int64_t first = row / p.h * windows;
    row_loop(p, h, rows[h], columns, dy + first * p.y_pitch(), index + first * p.c, dx + row * p.w * p.x_pitch());
  }
  flush<kStream>();
}

// Output rows [rows.begin, rows.end) of all pictures. `stream`: see store().
void spread_chunk(const Pool2dShape& p, bool stream, Range range, const float* dy, const void* index, float* dx) {
  const auto* bytes = static_cast<const uint8_t*>(index);
  if (!p.byte_index()) return spread_rows<false>(p, range, dy, static_cast<const int32_t*>(index), dx);
  if (stream) return spread_rows<true>(p, range, dy, bytes, dx);
  return spread_rows<false>(p, range, dy, bytes, dx);
}

// Input rows [rows.begin, rows.end) of all pictures.
void gather_chunk(const Pool2dShape& p, const Covering* rows, const Covering* columns, bool stream, Range range,
                  const float* dy, const void* index, float* dx) {
  const auto* bytes = static_cast<const uint8_t*>(index);
  if (!p.byte_index()) return gather_rows<false>(p, rows, columns, range, dy, static_cast<const int32_t*>(index), dx);
  if (stream) return gather_rows<true>(p, rows, columns, range, dy, bytes, dx);
  return gather_rows<false>(p, rows, columns, range, dy, bytes, dx);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void max_pool2d_forward(Context& context, const Pool2dShape& p, const float* x, float* y, void* index) {
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  const int64_t rows = int64_t{p.n} * p.oh();
  const int64_t chunks = std::min(rows, chunk_count(p.x_pixels() * p.c, kChunkElements));
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(p, chunk_range(rows, chunks, chunk), x, y, index); });
}

void max_pool2d_backward(Context& context, const Pool2dShape& p, const float* dy, const void* index, float* dx) {
  const int64_t count = p.x_pixels() * p.c;
  const bool stream = p.c % kLineFloats == 0 && p.x_pitch() == p.c && worth_streaming(dx, count);
  if (!p.dilated() && p.r <= p.stride_h && p.s <= p.stride_w) {
    const auto chunk_loop = DNN_PER_ISA(spread_chunk)[context];
    const int64_t rows = int64_t{p.n} * p.oh(), chunks = std::min(rows, chunk_count(count, kChunkElements));
    parallel_for(context, chunks,
                 [&](int64_t chunk, int) { chunk_loop(p, stream, chunk_range(rows, chunks, chunk), dy, index, dx); });
  } else {
    const auto chunk_loop = DNN_PER_ISA(gather_chunk)[context];
    const int64_t rows = int64_t{p.n} * p.h, chunks = std::min(rows, chunk_count(count, kChunkElements));
    Workspace workspace(context);
    const Covering* covering_rows = find_coverings(p.h, p.extent_h(), p.stride_h, p.pad_top, p.oh(), workspace);
    const Covering* covering_columns = find_coverings(p.w, p.extent_w(), p.stride_w, p.pad_left, p.ow(), workspace);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      chunk_loop(p, covering_rows, covering_columns, stream, chunk_range(rows, chunks, chunk), dy, index, dx);
    });
  }
}

}  // namespace dnn::cpu
#endif
