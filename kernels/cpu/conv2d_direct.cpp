// Blocking of the direct convolution. Filters are packed into panels [panel][R][S][C][lanes of the panel]; the work is
// split into units (row bands of pictures, or runs of pixels) and, where these are few, panels. Three structures:
//   rows      bands of output rows; a tile is part of one row. Padded columns are copied into a scratch band, and the
//             (s, c) run of a filter row is then one contiguous inner loop
//   pixels    1x1, stride 1: all pixels of the batch are one row
//   pointers  a pointer for each (tap, pixel): tiles run over row ends, for widths that tiles of one row fit badly
#include <kernels/cpu/conv2d_direct.h>

#include <algorithm>
#include <cstring>

#include <kernels/cpu/conv2d_panels.h>
#include <kernels/cpu/simd/conv2d_direct.h>
#include <kernels/parallel.h>

namespace dnn::cpu {
namespace {

constexpr int64_t kBandBytes = 128 << 10;  // of x under a unit, to stay in the second-level cache
constexpr int64_t kChunkFlops = 1 << 20;   // below this a second thread costs more than it brings
constexpr int64_t kEnoughUnits = 16;       // with fewer, panels are split among threads too
constexpr int64_t kMostChunks = 64;

// Chunks of units x panels: f(units, panels, thread).
template <class F>
void for_each_chunk(Context& context, const DirectConv& conv, const Panels& panels, int64_t units, F&& f) {
  if (units == 0) return;
  const int64_t flops =
      2 * int64_t{conv.n} * conv.oh * conv.ow * conv.k * conv.groups * std::max<int64_t>(panels.length(), 1);
  const int64_t most = std::clamp<int64_t>(flops / kChunkFlops, 1, kMostChunks);
  const int64_t unit_chunks = std::min(units, most);
  int64_t panel_chunks = 1;
  if (unit_chunks < kEnoughUnits)
    panel_chunks = std::min<int64_t>(panels.count(), ceil_div(std::min(most, kEnoughUnits), unit_chunks));
  parallel_for(context, unit_chunks * panel_chunks, [&](int64_t chunk, int thread) {
    f(chunk_range(units, unit_chunks, chunk / panel_chunks),
      chunk_range(panels.count(), panel_chunks, chunk % panel_chunks), thread);
  });
}

int64_t scratch_threads(Context& context) { return threads_for(context, kMostChunks * kEnoughUnits); }

TileOutput output_at(const Panel& panel, const DirectConv& conv, const Epilogue<float>& epilogue, float* y,
                     int64_t offset) {
  offset += int64_t{panel.group} * conv.k + panel.first;
  return {panel.start,    y + offset,          epilogue.residual ? epilogue.residual + offset : nullptr,
          panel.channels, epilogue.activation, panel.scale,
          panel.shift};
}

// ---- rows ----

struct RowBands {
  int rows, count;      // output rows of a band (at most), bands of a picture
  int width;            // columns of x that a row's taps meet, from -pad_left on
  bool copy;            // into the scratch band
  int64_t scratch = 0;  // its elements
};

RowBands row_bands(const DirectConv& conv) {
  RowBands bands{};
  bands.width = (conv.ow - 1) * conv.stride_w + conv.dilation_w * (conv.s - 1) + 1;
  const bool padded = conv.pad_left > 0 || -conv.pad_left + bands.width > conv.w;
  const bool dense = conv.groups == 1 && conv.x_pitch == conv.c;
  bands.copy = conv.s > 0 && (padded || (!dense && conv.s > 1));
  const int64_t row_bytes = int64_t{bands.width} * conv.c * static_cast<int64_t>(sizeof(float));
  const int64_t fit = kBandBytes / std::max<int64_t>(row_bytes * conv.stride_h, 1);
  bands.count = static_cast<int>(ceil_div(conv.oh, std::clamp<int64_t>(fit, 1, conv.oh)));
  bands.rows = static_cast<int>(ceil_div(conv.oh, bands.count));
  bands.count = static_cast<int>(ceil_div(conv.oh, bands.rows));
  const int64_t rows_in =
      int64_t{bands.rows - 1} * conv.stride_h + int64_t{conv.dilation_h} * std::max(conv.r - 1, 0) + 1;
  if (bands.copy) bands.scratch = std::min<int64_t>(rows_in, conv.h) * bands.width * conv.c;
  return bands;
}

// One picture's rows [begin, end) of x, columns from -pad_left on, zeros outside the picture.
void copy_band(const DirectConv& conv, int width, const float* x, int64_t begin, int64_t end, float* to) {
  const int64_t first = std::clamp(conv.pad_left, 0, width);
  const int64_t last = std::clamp<int64_t>(int64_t{conv.w} + conv.pad_left, first, width);
  const int64_t c = conv.c;
  for (int64_t row = begin; row < end; ++row, to += width * c) {
    const float* from = x + (row * conv.w + first - conv.pad_left) * conv.x_pitch;
    std::fill(to, to + first * c, 0.0f);
    if (conv.x_pitch == c) {
      std::memcpy(to + first * c, from, (last - first) * c * sizeof(float));
    } else {
      for (int64_t col = first; col < last; ++col)
        std::memcpy(to + col * c, from + (col - first) * conv.x_pitch, c * sizeof(float));
    }
    std::fill(to + last * c, to + width * c, 0.0f);
  }
}

// The rows of x that output rows [begin, end) meet.
Range band_input(const DirectConv& conv, int64_t begin, int64_t end) {
  const int64_t first = begin * conv.stride_h - conv.pad_top;
  const int64_t last = (end - 1) * conv.stride_h - conv.pad_top + int64_t{conv.dilation_h} * (conv.r - 1) + 1;
  const int64_t low = std::clamp<int64_t>(first, 0, conv.h);
  return {low, std::clamp<int64_t>(last, low, conv.h)};
}

// One output row of one panel, in tiles of about equal width. `x` is the input's row 0 (of the picture), column
// -pad_left.
void run_row(const DirectConv& conv, const DirectKernels& kernels, const Panel& panel, int64_t oh, const float* x,
             RowsTile tile) {
  const int64_t ih = oh * conv.stride_h - conv.pad_top;
  const int64_t r0 = ih < 0 ? std::min<int64_t>(ceil_div(-ih, conv.dilation_h), conv.r) : 0;
  const int64_t r1 = std::clamp<int64_t>(ceil_div(conv.h - ih, conv.dilation_h), r0, conv.r);
  const int64_t row_elements = tile.row_step / conv.dilation_h;
  tile.rows = static_cast<int>(r1 - r0);
  if (tile.rows > 0) tile.x = x + (ih + r0 * conv.dilation_h) * row_elements;
  tile.w = panel.weights + r0 * tile.cols * tile.run * panel.vectors * kernels.lanes;
  const int tiles = static_cast<int>(ceil_div(conv.ow, kernels.pixels[panel.vectors]));
  for (int i = 0, ow = 0; i < tiles; ++i) {
    const int pixels = (conv.ow - ow + tiles - i - 1) / (tiles - i);
    kernels.rows[panel.vectors][pixels](tile);
    ow += pixels;
    tile.x += pixels * tile.x_step;
    tile.out.y += pixels * tile.y_step;
    if (tile.out.residual) tile.out.residual += pixels * tile.y_step;
  }
}

void run_rows(Context& context, Workspace& workspace, const DirectConv& conv, const Panels& panels, const float* x,
              const Epilogue<float>& epilogue, float* y) {
  const RowBands bands = row_bands(conv);
  float* scratch = workspace.take<float>(bands.scratch * scratch_threads(context));
  const int64_t pixel = bands.copy ? conv.c : conv.x_pitch;
  const bool merged = conv.dilation_w == 1 && pixel == conv.c;
  RowsTile shared{};
  shared.x = x;
  shared.x_step = conv.stride_w * pixel;
  shared.row_step = (bands.copy ? bands.width : conv.w) * pixel * conv.dilation_h;
  shared.col_step = conv.dilation_w * pixel;
  shared.cols = merged ? 1 : conv.s;
  shared.run = merged ? int64_t{conv.s} * conv.c : conv.c;
  shared.y_step = conv.y_step;
  for_each_chunk(context, conv, panels, int64_t{conv.n} * bands.count, [&](Range units, Range range, int thread) {
    float* band = scratch + thread * bands.scratch;
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const int64_t picture = unit / bands.count, begin = unit % bands.count * bands.rows;
      const int64_t end = std::min<int64_t>(conv.oh, begin + bands.rows);
      const Range rows = band_input(conv, begin, end);
      int group = -1;
      const float* x0 = nullptr;
      for (int64_t i = range.begin; i < range.end; ++i) {
        const Panel panel = panels[i];
        if (panel.group != group) {
          group = panel.group;
          x0 = x + picture * conv.h * conv.w * conv.x_pitch + int64_t{group} * conv.c;
          if (bands.copy) {
            copy_band(conv, bands.width, x0, rows.begin, rows.end, band);
            x0 = band - rows.begin * bands.width * conv.c;
          } else {
            x0 -= conv.pad_left * pixel;
          }
        }
        RowsTile tile = shared;
        for (int64_t oh = begin; oh < end; ++oh) {
          tile.out = output_at(panel, conv, epilogue, y, picture * conv.y_picture + oh * conv.y_row);
          run_row(conv, panels.kernels, panel, oh, x0, tile);
        }
      }
    }
  });
}

// ---- pixels ----

bool all_pixels_one_row(const DirectConv& conv) {
  return conv.r == 1 && conv.s == 1 && conv.stride_h == 1 && conv.stride_w == 1 && conv.pad_top == 0 &&
         conv.pad_left == 0 && conv.oh == conv.h && conv.ow == conv.w && conv.y_row == conv.ow * conv.y_step &&
         conv.y_picture == conv.oh * conv.y_row;
}

void run_pixels(Context& context, const DirectConv& conv, const Panels& panels, const float* x,
                const Epilogue<float>& epilogue, float* y) {
  const DirectKernels& kernels = panels.kernels;
  const int64_t count = int64_t{conv.n} * conv.oh * conv.ow;
  // Panels that stay in the cache take turns on a few pixels, so that y is written from end to end; large ones are kept
  // for as many pixels as the cache holds.
  const int64_t few = kernels.max_vectors == 4 ? 56 : 12;  // a multiple of every tile's pixels
  const int64_t weight_bytes = panels.group_bytes();
  const int64_t fit = kBandBytes / (conv.c * static_cast<int64_t>(sizeof(float)));
  const int64_t block = weight_bytes <= kBandBytes ? few : std::max<int64_t>(fit / few, 1) * few;
  RowsTile shared{};
  shared.rows = shared.cols = 1;
  shared.x_step = conv.x_pitch;
  shared.run = conv.c;
  shared.y_step = conv.y_step;
  for_each_chunk(context, conv, panels, ceil_div(count, block), [&](Range units, Range range, int) {
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const int64_t begin = unit * block, end = std::min(count, begin + block);
      int group = -1;
      for (int64_t i = range.begin; i < range.end; ++i) {
        const Panel panel = panels[i];
        const bool fresh = panel.group != group;  // this block of x is not in the cache yet
        group = panel.group;
        RowsTile tile = shared;
        tile.w = panel.weights;
        const int most = kernels.pixels[panel.vectors];
        const auto full = fresh ? kernels.rows_prefetch[panel.vectors] : kernels.rows[panel.vectors][most];
        for (int64_t pixel = begin; pixel < end; pixel += most) {
          tile.x = x + pixel * conv.x_pitch + int64_t{group} * conv.c;
          tile.out = output_at(panel, conv, epilogue, y, pixel * conv.y_step);
          const int64_t pixels = std::min<int64_t>(most, end - pixel);
          (pixels == most ? full : kernels.rows[panel.vectors][pixels])(tile);
        }
      }
    }
  });
}

// ---- pointers ----

// The pointers and places of the output pixels [begin, end), then the last one's again up to `block` of them.
void point(const DirectConv& conv, const float* x, const float* zeros, int64_t begin, int64_t end, int64_t block,
           const float** pointers, int64_t* y_offsets) {
  for (int64_t i = 0; i < block; ++i) {
    const int64_t pixel = std::min(begin + i, end - 1);
    const int64_t picture = pixel / (int64_t{conv.oh} * conv.ow), oh = pixel / conv.ow % conv.oh, ow = pixel % conv.ow;
    y_offsets[i] = picture * conv.y_picture + oh * conv.y_row + ow * conv.y_step;
    const float* x0 = x + picture * conv.h * conv.w * conv.x_pitch;
    const float** to = pointers + i;
    for (int r = 0; r < conv.r; ++r) {
      const int64_t ih = oh * conv.stride_h - conv.pad_top + int64_t{r} * conv.dilation_h;
      for (int s = 0; s < conv.s; ++s, to += block) {
        const int64_t iw = ow * conv.stride_w - conv.pad_left + int64_t{s} * conv.dilation_w;
        const bool inside = ih >= 0 && ih < conv.h && iw >= 0 && iw < conv.w;
        *to = inside ? x0 + (ih * conv.w + iw) * conv.x_pitch : zeros;
      }
    }
  }
}

void run_pointers(Context& context, Workspace& workspace, const DirectConv& conv, const Panels& panels, const float* x,
                  const Epilogue<float>& epilogue, float* y) {
  const DirectKernels& kernels = panels.kernels;
  const int64_t count = int64_t{conv.n} * conv.oh * conv.ow, taps = int64_t{conv.r} * conv.s;
  constexpr int64_t kTiles = 168;
  const int64_t fit = kBandBytes / (static_cast<int64_t>(sizeof(float)) * conv.c * conv.stride_h * conv.stride_w);
  const int64_t block = fit >= kTiles ? kTiles : std::max<int64_t>(fit / 12 * 12, 24);
  const int64_t padded = block + kMaxTilePixels;
  const int64_t channels = int64_t{conv.groups} * conv.c;
  float* zeros = workspace.take<float>(channels);
  std::fill(zeros, zeros + channels, 0.0f);
  const float** pointers = workspace.take<const float*>(padded * taps * scratch_threads(context));
  int64_t* y_offsets = workspace.take<int64_t>(padded * scratch_threads(context));
  for_each_chunk(context, conv, panels, ceil_div(count, block), [&](Range units, Range range, int thread) {
    const float** block_pointers = pointers + thread * padded * taps;
    int64_t* block_offsets = y_offsets + thread * padded;
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const int64_t begin = unit * block, pixels = std::min(block, count - begin);
      point(conv, x, zeros, begin, begin + pixels, padded, block_pointers, block_offsets);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const Panel panel = panels[i];
        PointersTile tile{};
        tile.out = output_at(panel, conv, epilogue, y, 0);
        tile.x_offset = int64_t{panel.group} * conv.c;
        tile.w = panel.weights;
        tile.tap_step = padded;
        tile.run = conv.c;
        tile.taps = static_cast<int>(taps);
        for (int64_t pixel = 0; pixel < pixels; pixel += kernels.pixels[panel.vectors]) {
          tile.pointers = block_pointers + pixel;
          tile.y_offsets = block_offsets + pixel;
          kernels.pointers[panel.vectors](tile);
        }
      }
    }
  });
}

// Cycles for each step of the inner loop: two multiply-adds and two loads a cycle, sums ready after four.
int64_t tile_cost(int pixels, int vectors) { return std::max({pixels * vectors, 8, pixels + vectors}); }

// Whether tiles cut to the rows waste more than pointers cost.
bool rows_fit_badly(const DirectConv& conv, const Panels& panels) {
  const int vectors = panels[0].vectors, most = panels.kernels.pixels[vectors];
  const int64_t tiles = ceil_div(conv.ow, most);
  int64_t rows = 0;
  for (int64_t i = 0, ow = 0; i < tiles; ++i) {
    const int64_t pixels = (conv.ow - ow + tiles - i - 1) / (tiles - i);
    rows += tile_cost(static_cast<int>(pixels), vectors);
    ow += pixels;
  }
  return rows * most * 100 > tile_cost(most, vectors) * conv.ow * 108;
}

enum class Structure { rows, pixels, pointers };

Structure structure_of(const DirectConv& conv, const Panels& panels) {
  if (all_pixels_one_row(conv)) return Structure::pixels;
  constexpr int kPointersChannels = 8;  // below, a tap's loop is too short
  return conv.c >= kPointersChannels && rows_fit_badly(conv, panels) ? Structure::pointers : Structure::rows;
}

}  // namespace

const char* direct_structure(const Context& context, const DirectConv& conv) {
  static constexpr const char* kNames[] = {"rows", "pixels", "pointers"};
  return kNames[static_cast<int>(structure_of(conv, Panels(direct_kernels(context), conv)))];
}

int64_t direct_packed_count(Context& context, const DirectConv& conv) {
  return Panels(direct_kernels(context), conv).size();
}

void conv2d_direct(Context& context, const DirectConv& conv, const float* packed, const float* x,
                   const Epilogue<float>& epilogue, float* y) {
  if (conv.n == 0 || conv.oh == 0 || conv.ow == 0) return;
  Workspace workspace(context);
  Panels panels(direct_kernels(context), conv);
  panels.weights = packed;
  pack_epilogue(workspace, conv, &epilogue, panels);
  switch (structure_of(conv, panels)) {
    case Structure::rows:
      return run_rows(context, workspace, conv, panels, x, epilogue, y);
    case Structure::pixels:
      return run_pixels(context, conv, panels, x, epilogue, y);
    case Structure::pointers:
      return run_pointers(context, workspace, conv, panels, x, epilogue, y);
  }
}

}  // namespace dnn::cpu
