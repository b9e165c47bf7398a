// y = the sum of each window's cells in the picture over the cells that count (all in the padded picture, or those in
// the picture). Vectorised over the channels. The gradient goes through dx once: each pixel gathers from the windows
// that cover it, so that no two chunks write the same place.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/avg_pool2d.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/pooling.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/cpu/simd/window_sum-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// Output rows [range.begin, range.end) of all pictures. row_cells and column_cells: see count_cells().
void forward_chunk(const Pool2dShape& p, const int* row_cells, const int* column_cells, Range range, const float* x,
                   float* y) {
  const int oh_end = p.oh(), ow_end = p.ow();
  const int64_t pitch = p.x_pitch(), row_pitch = pitch * p.w;
  for (int64_t row = range.begin; row < range.end; ++row) {
    const int oh = static_cast<int>(row % oh_end), top = oh * p.stride_h - p.pad_top;
    const int r0 = std::max(0, top), rows = std::min(p.h, top + p.r) - r0;
    for (int ow = 0; ow < ow_end; ++ow) {
      const int left = ow * p.stride_w - p.pad_left;
      const int s0 = std::max(0, left), columns = std::min(p.w, left + p.s) - s0;
      const float* first = x + (row / oh_end * p.h + r0) * row_pitch + s0 * pitch;
      float* to = y + (row * ow_end + ow) * p.y_pitch();
      const double divisor = static_cast<double>(row_cells[oh]) * column_cells[ow];
      for_vectors(p.c, [&](auto d, int64_t c) HWY_ATTR {
        hn::StoreU(average_cells(d, first + c, rows, columns, row_pitch, pitch, divisor), d, to + c);
      });
    }
  }
}

// A pixel under rows x columns windows that all have the same divisor; dy belongs to the first of them.
template <bool kStream>
HWY_INLINE void gather_pixel(const Pool2dShape& p, int rows, int columns, int64_t y_row_pitch, float scale,
                             const float* dy, float* dx) {
  const int64_t y_pitch = p.y_pitch();
  for_vectors(p.c, [=](auto d, int64_t c) HWY_ATTR {
    const auto sum = sum_cells(d, dy + c, rows, columns, y_row_pitch, y_pitch);
    store<kStream>(hn::Mul(sum, hn::Set(d, scale)), d, dx + c);
  });
}

// dx += scale * dy
void add_window(int channels, float scale, const float* dy, float* dx) {
  for_vectors(channels, [=](auto d, int64_t c) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::Set(d, scale), hn::LoadU(d, dy + c), hn::LoadU(d, dx + c)), d, dx + c);
  });
}

template <bool kStream>
void backward_rows(const Pool2dShape& p, const AveragedCovering* rows, const AveragedCovering* columns,
                   const int* row_cells, const int* column_cells, Range range, const float* dy, float* dx) {
  const int64_t windows = p.ow(), y_row_pitch = windows * p.y_pitch();
  for (int64_t row = range.begin; row < range.end; ++row) {
    const auto [row_windows, cells_of_row] = rows[row % p.h];
    const float* picture = dy + row / p.h * p.oh() * y_row_pitch;
    for (int w = 0; w < p.w; ++w) {
      const auto [column_windows, cells_of_column] = columns[w];
      float* to = dx + (row * p.w + w) * p.x_pitch();
      const auto window = [&](int64_t oh, int64_t ow) { return picture + oh * y_row_pitch + ow * p.y_pitch(); };
      if (cells_of_row > 0 && cells_of_column > 0) {
        const float scale = 1.0f / (static_cast<float>(cells_of_row) * static_cast<float>(cells_of_column));
        gather_pixel<kStream>(p, row_windows.end - row_windows.begin, column_windows.end - column_windows.begin,
                              y_row_pitch, scale, window(row_windows.begin, column_windows.begin), to);
        continue;
      }
      std::fill_n(to, p.c, 0.0f);
      for (int oh = row_windows.begin; oh < row_windows.end; ++oh) {
        for (int ow = column_windows.begin; ow < column_windows.end; ++ow) {
          const float scale = 1.0f / (static_cast<float>(row_cells[oh]) * static_cast<float>(column_cells[ow]));
          add_window(p.c, scale, window(oh, ow), to);
        }
      }
    }
  }
  flush<kStream>();
}

// Input rows [range.begin, range.end) of all pictures. `stream`: see store().
void backward_chunk(const Pool2dShape& p, const AveragedCovering* rows, const AveragedCovering* columns,
                    const int* row_cells, const int* column_cells, bool stream, Range range, const float* dy,
                    float* dx) {
  stream ? backward_rows<true>(p, rows, columns, row_cells, column_cells, range, dy, dx)
         : backward_rows<false>(p, rows, columns, row_cells, column_cells, range, dy, dx);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// How many places of one dimension count in each window.
const int* count_cells(int size, int window, int stride, int pad_begin, int pad_end, bool include_pad, int windows,
                       Workspace& workspace) {
  int* cells = workspace.take<int>(windows);
  for (int i = 0; i < windows; ++i) {
    const int begin = i * stride - pad_begin, end = begin + window;
    cells[i] = include_pad ? std::min(end, size + pad_end) - begin : std::min(end, size) - std::max(begin, 0);
  }
  return cells;
}

struct WindowCells {
  WindowCells(const Pool2dShape& p, Workspace& workspace)
      : rows(count_cells(p.h, p.r, p.stride_h, p.pad_top, p.pad_bottom, p.count_include_pad, p.oh(), workspace)),
        columns(count_cells(p.w, p.s, p.stride_w, p.pad_left, p.pad_right, p.count_include_pad, p.ow(), workspace)) {}
  const int *rows, *columns;
};

const AveragedCovering* find_averaged_coverings(int size, int window, int stride, int pad, int windows,
                                                const int* cells, Workspace& workspace) {
  const Covering* coverings = find_coverings(size, window, stride, pad, windows, workspace);
  AveragedCovering* found = workspace.take<AveragedCovering>(size);
  for (int at = 0; at < size; ++at) {
    const auto [begin, end] = coverings[at];
    int common = begin < end ? cells[begin] : window;
    for (int i = begin; i < end; ++i) {
      if (cells[i] != common) common = 0;
    }
    found[at] = {coverings[at], common};
  }
  return found;
}

}  // namespace

void avg_pool2d_forward(Context& context, const Pool2dShape& p, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(forward_chunk)[context];
  Workspace workspace(context);
  const WindowCells cells(p, workspace);
  const int64_t rows = int64_t{p.n} * p.oh(), cost = std::max(p.x_pixels(), p.y_pixels() * p.r * p.s / 4) * p.c;
  const int64_t chunks = std::min(rows, chunk_count(cost, kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    chunk_loop(p, cells.rows, cells.columns, chunk_range(rows, chunks, chunk), x, y);
  });
}

void avg_pool2d_backward(Context& context, const Pool2dShape& p, const float* dy, float* dx) {
  const auto chunk_loop = DNN_PER_ISA(backward_chunk)[context];
  Workspace workspace(context);
  const WindowCells cells(p, workspace);
  const AveragedCovering* covering_rows =
      find_averaged_coverings(p.h, p.r, p.stride_h, p.pad_top, p.oh(), cells.rows, workspace);
  const AveragedCovering* covering_columns =
      find_averaged_coverings(p.w, p.s, p.stride_w, p.pad_left, p.ow(), cells.columns, workspace);
  const int64_t rows = int64_t{p.n} * p.h, count = p.x_pixels() * p.c;
  const int64_t chunks = std::min(rows, chunk_count(count, kChunkElements));
  const bool stream = p.c % kLineFloats == 0 && p.x_pitch() == p.c && worth_streaming(dx, count);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    chunk_loop(p, covering_rows, covering_columns, cells.rows, cells.columns, stream, chunk_range(rows, chunks, chunk),
               dy, dx);
  });
}

}  // namespace dnn::cpu
#endif
