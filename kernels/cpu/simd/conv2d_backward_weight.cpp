#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/conv2d_backward_weight.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include <kernels/cpu/simd/conv2d_backward_weight.h>
#include <kernels/cpu/simd/masked_load-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;

constexpr int kMaxVectors = 3;
// Filters of a tile by its vectors: as many sums as the registers hold. One vector needs twelve to hide the latency.
// dy is copied in groups of filters that all tiles divide.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileFilters[kMaxVectors + 1] = {0, 12, 12, 8};
constexpr int kGroup = 24;
#else
constexpr int kTileFilters[kMaxVectors + 1] = {0, 12, 6, 4};
constexpr int kGroup = 12;
#endif

struct Tile {
  const float* x;
  int64_t x_picture, x_row, x_column;  // from a picture, row, pixel of y to the next
  const float* dy;
  int64_t dy_picture, dy_row, dy_column;
  float* dw;
  int64_t dw_filter;
  int pictures, rows, columns;
  int width;           // values of the run: the last vector ends with it, and may repeat some of the one before
  const float* ahead;  // memory to fetch, one line for each pixel
  int64_t ahead_step;
};

template <int kFilters, int kVectors>
void add_tile(const Tile& t) {
  const Tag d;
  const int64_t lanes = hn::Lanes(d);
  // A run shorter than a vector: the only case with partial loads and stores.
  const auto mask = hn::FirstN(d, static_cast<size_t>(t.width));
  const int64_t last = kVectors > 1 ? t.width - lanes : 0;
  const auto start = [&](int j) HWY_ATTR { return j + 1 < kVectors ? j * lanes : last; };

  Vec sum[kFilters][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kFilters; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      const float* from = t.dw + i * t.dw_filter + start(j);
      sum[i][j] = kVectors == 1 ? masked_load(mask, d, from) : hn::LoadU(d, from);
    }
  }
  const float* ahead = t.ahead;
  for (int picture = 0; picture < t.pictures; ++picture) {
    for (int row = 0; row < t.rows; ++row) {
      const float* x = t.x + picture * t.x_picture + row * t.x_row;
      const float* dy = t.dy + picture * t.dy_picture + row * t.dy_row;
      for (int column = 0; column < t.columns; ++column) {
        Vec value[kVectors];
#pragma GCC unroll 16
        for (int j = 0; j < kVectors; ++j) {
          value[j] = kVectors == 1 ? masked_load(mask, d, x) : hn::LoadU(d, x + start(j));
        }
        hwy::Prefetch(ahead);
        ahead += t.ahead_step;
#pragma GCC unroll 16
        for (int i = 0; i < kFilters; ++i) {
          const Vec slope = hn::Set(d, dy[i]);
#pragma GCC unroll 16
          for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(slope, value[j], sum[i][j]);
        }
        x += t.x_column;
        dy += t.dy_column;
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kFilters; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      float* to = t.dw + i * t.dw_filter + start(j);
      if constexpr (kVectors == 1) {
        hn::BlendedStore(sum[i][j], mask, d, to);
      } else {
        hn::StoreU(sum[i][j], d, to);
      }
    }
  }
}

using AddTile = void (*)(const Tile&);

template <int kVectors, int... kIndex>
AddTile tile_of(int filters, std::integer_sequence<int, kIndex...>) {
  static constexpr AddTile tiles[] = {add_tile<kIndex + 1, kVectors>...};
  return tiles[filters - 1];
}

AddTile tile_of(int filters, int vectors) {
  if (vectors == 1) return tile_of<1>(filters, std::make_integer_sequence<int, kTileFilters[1]>());
  if (vectors == 2) return tile_of<2>(filters, std::make_integer_sequence<int, kTileFilters[2]>());
  return tile_of<3>(filters, std::make_integer_sequence<int, kTileFilters[3]>());
}

// A panel of x, `width` values of each position from `from` on: where they are.
struct Panel {
  const float* x;
  int64_t first, picture, row, column;  // offset of position (0, 0), steps
};

template <int kVectors>
void copy_panel_row(const float* from, int64_t step, int64_t count, int width, int64_t to_step, float* to) {
  const Tag d;
  const int64_t lanes = hn::Lanes(d);
  const auto mask = hn::FirstN(d, static_cast<size_t>(width));
  for (int64_t i = 0; i < count; ++i, from += step, to += to_step) {
    if constexpr (kVectors == 1) {
      hn::StoreU(masked_load(mask, d, from), d, to);
      continue;
    }
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      const int64_t start = j + 1 < kVectors ? j * lanes : width - lanes;
      hn::StoreU(hn::LoadU(d, from + start), d, to + start);
    }
  }
}

Panel panel_of_x(const WeightGradientBlock& b, int64_t from, int vectors, int width) {
  if (!b.x_panel) return {b.x, b.x_first + from, b.x_picture, b.x_row, b.x_column};
  const Range rows = positions(b);
  const int64_t columns = b.x_columns.end - b.x_columns.begin;
  Panel panel{b.x_panel, 0, 0, 0, std::max<int64_t>(width, hn::Lanes(Tag()))};
  panel.row = columns * panel.column;
  panel.picture = (rows.end - rows.begin) * panel.row;
  panel.first = -rows.begin * panel.row - b.x_columns.begin * panel.column;
  float* to = b.x_panel;
  const auto copy = vectors == 1 ? copy_panel_row<1> : vectors == 2 ? copy_panel_row<2> : copy_panel_row<3>;
  for (int picture = 0; picture < b.pictures; ++picture) {
    for (int64_t row = rows.begin; row < rows.end; ++row, to += panel.row) {
      const int64_t start = b.x_first + picture * b.x_picture + row * b.x_row + b.x_columns.begin * b.x_column + from;
      copy(b.x + start, b.x_column, columns, width, panel.column, to);
    }
  }
  return panel;
}

// Copies whole vectors; reads no value beyond `count`.
HWY_INLINE float* copy_run(const float* from, int count, float* to) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  if (i < count) hn::StoreU(masked_load(hn::FirstN(d, static_cast<size_t>(count - i)), d, from + i), d, to + i);
  return to + count;
}

// The filters of one group at one pixel.
HWY_INLINE float* copy_group(const float* from, float* to) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i + lanes < kGroup; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + kGroup - lanes), d, to + kGroup - lanes);
  return to + kGroup;
}

// dy of the block as [group of filters][pixel][filter].
void copy_groups(const WeightGradientBlock& b) {
  float* to = b.dy_groups;
  for (int first = 0; first < b.filters; first += kGroup) {
    const int count = std::min(kGroup, b.filters - first);
    for (int picture = 0; picture < b.pictures; ++picture) {
      for (int64_t row = b.rows.begin; row < b.rows.end; ++row) {
        const float* from = b.dy + picture * b.dy_picture + row * b.dy_row + first;
        for (int column = 0; column < b.columns; ++column, from += b.dy_column) {
          to = count == kGroup ? copy_group(from, to) : copy_run(from, count, to);
        }
      }
    }
  }
}

// Sets the tile's dy to filter `first`'s values of pixel (0, 0) of the block's first picture.
void take_filters(const WeightGradientBlock& b, int first, Tile& tile) {
  tile.dy = b.dy + first;
  tile.dy_column = b.dy_column, tile.dy_row = b.dy_row, tile.dy_picture = b.dy_picture;
  if (!b.dy_groups) return;
  const int in_group = first % kGroup, group = first - in_group;
  const int64_t rows = b.rows.end - b.rows.begin;
  tile.dy_column = std::min(kGroup, b.filters - group);
  tile.dy_row = b.columns * tile.dy_column;
  tile.dy_picture = rows * tile.dy_row;
  tile.dy = b.dy_groups + (rows * group * b.pictures * b.columns + in_group - b.rows.begin * tile.dy_row);
}

void add_taps(const WeightGradientBlock& b, AddTile add, const Panel& panel, int64_t from, int first_filter,
              Tile tile) {
  take_filters(b, first_filter, tile);
  tile.x_column = b.stride_w * panel.column;
  tile.x_row = b.stride_h * panel.row;
  tile.x_picture = panel.picture;
  tile.dw_filter = b.dw_filter;
  const float* dy = tile.dy;
  for (int r = 0; r < b.r; ++r) {
    const int64_t row = std::max(b.rows.begin, b.tap_rows[r].begin);
    tile.rows = static_cast<int>(std::min(b.rows.end, b.tap_rows[r].end) - row);
    if (tile.rows <= 0) continue;
    for (int s = 0; s < b.s; ++s) {
      const int64_t column = b.tap_columns[s].begin;
      tile.columns = static_cast<int>(b.tap_columns[s].end - column);
      if (tile.columns <= 0) continue;
      tile.x = panel.x + (panel.first + (row * b.stride_h + r * b.dilation_h) * panel.row +
                          (column * b.stride_w + s * b.dilation_w) * panel.column);
      tile.dy = dy + (row * tile.dy_row + column * tile.dy_column);
      tile.dw = b.dw + (first_filter * b.dw_filter + (int64_t{r} * b.s + s) * b.run + from);
      if (!tile.ahead) tile.ahead = tile.x;
      add(tile);
    }
  }
}

// What the tile fetches ahead in a block of one tap: its first filters the panel of x that comes next, the other ones
// a line of dy for the block that follows.
void fetch_ahead(const WeightGradientBlock& b, int panel, bool last_panel, int64_t next, int tile_index, int tiles,
                 Tile& tile) {
  constexpr int kLine = 16;
  if (tile_index == 0) {
    tile.ahead = b.x + b.x_first + (last_panel ? b.columns * b.x_column : next);
    tile.ahead_step = b.x_column;
    return;
  }
  const int64_t line = int64_t{panel} * (tiles - 1) + tile_index - 1;
  if (line * kLine >= b.filters) return;
  tile.ahead = b.dy + b.columns * b.dy_column + line * kLine;
  tile.ahead_step = b.dy_column;
}

void add_block(const WeightGradientBlock& b) {
  const int lanes = static_cast<int>(hn::Lanes(Tag()));
  if (b.dy_groups) copy_groups(b);
  int vectors_left = (b.run + lanes - 1) / lanes;
  int64_t from = 0;
  for (int index = 0; vectors_left > 0; ++index) {
    const int vectors = vectors_left == 3 ? 3 : std::min(vectors_left, 2);
    vectors_left -= vectors;
    Tile tile{};
    tile.pictures = b.pictures;
    tile.width = vectors_left ? vectors * lanes : static_cast<int>(b.run - from);
    const Panel panel = panel_of_x(b, from, vectors, tile.width);
    const int most = kTileFilters[vectors], tiles = (b.filters + most - 1) / most;
    for (int i = 0; i < tiles; ++i) {
      tile.ahead = nullptr;
      tile.ahead_step = 0;
      if (b.another_follows) fetch_ahead(b, index, vectors_left == 0, from + tile.width, i, tiles, tile);
      const int count = std::min(most, b.filters - i * most);
      add_taps(b, tile_of(count, vectors), panel, from, i * most, tile);
    }
    from += tile.width;
  }
}

HWY_INLINE float* zero_run(int count, float* to) {
  const Tag d;
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) hn::StoreU(hn::Zero(d), d, to + i);
  return to + count;
}

void gather_patches(const Conv2dShape& p, int64_t first, int64_t count, const float* x, int64_t pitch, float* patches) {
  const int64_t x_step = int64_t{p.dilation_w} * p.x_pitch();
  const int c = p.c / p.groups, oh = p.oh(), ow = p.ow();
  const bool rows_dense = p.dilation_w == 1 && p.x_pitch() == c;
  const int span = p.dilation_w * (p.s - 1);
  int column = static_cast<int>(first % ow), row = static_cast<int>(first / ow % oh);
  int64_t n = first / ow / oh;
  for (int64_t i = 0; i < count; ++i, patches += pitch) {
    const int ih0 = row * p.stride_h - p.pad_top, iw0 = column * p.stride_w - p.pad_left;
    const bool inside = iw0 >= 0 && iw0 + span < p.w;
    float* to = patches;
    for (int r = 0, ih = ih0; r < p.r; ++r, ih += p.dilation_h) {
      if (ih < 0 || ih >= p.h) {
        to = zero_run(p.s * c, to);
        continue;
      }
      const float* from = x + ((n * p.h + ih) * p.w + iw0) * p.x_pitch();
      if (inside && rows_dense) {
        to = copy_run(from, p.s * c, to);
        continue;
      }
      for (int s = 0, iw = iw0; s < p.s; ++s, iw += p.dilation_w, from += x_step) {
        to = iw < 0 || iw >= p.w ? zero_run(c, to) : copy_run(from, c, to);
      }
    }
    if (++column < ow) continue;
    column = 0;
    if (++row < oh) continue;
    row = 0;
    ++n;
  }
}

void add_parts(int64_t count, int64_t parts, const float* partial, int64_t part_step, float* dw) {
  const Tag d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Vec sum = hn::LoadU(d, dw + i);
    for (int64_t part = 0; part < parts; ++part) sum = hn::Add(sum, hn::LoadU(d, partial + part * part_step + i));
    hn::StoreU(sum, d, dw + i);
  }
  for (; i < count; ++i) {
    for (int64_t part = 0; part < parts; ++part) dw[i] += partial[part * part_step + i];
  }
}

constexpr WeightGradientLoops loops{static_cast<int>(HWY_LANES(float)), kGroup, add_block, gather_patches, add_parts};

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

const PerIsa<WeightGradientLoops> weight_gradient_loops{N_SCALAR::loops, N_AVX2::loops, N_AVX3::loops};

}  // namespace dnn::cpu
#endif
