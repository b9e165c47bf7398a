// Blocking of the Winograd convolution: blocks of 4x4 output tiles, taken from the whole batch. For each block all
// tiles are transformed to V [position][tile][C]; position by position, V times the transformed filters U
// [position][panel][C][lanes] gives M [position][tile][K], by the tiles of the direct convolution; then M is
// transformed back. U is read once a block, V and M stay in the cache.
#include <kernels/cpu/conv2d_winograd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <kernels/cpu/conv2d_panels.h>
#include <kernels/cpu/simd/winograd.h>
#include <kernels/error.h>
#include <kernels/parallel.h>

namespace dnn::cpu {
namespace {

constexpr int64_t kBlockBytes = 2 << 20;  // of V and M
constexpr int64_t kMostBlocks = int64_t{1} << 20;

// Tiles of the batch, and of a block.
struct Tiling {
  int64_t high, wide, count, block;
  int64_t v_step, m_step;  // from a tile to the next: not a power of two, whose lines would share a few cache sets
};

Tiling tiling_of(const DirectConv& conv, const DirectKernels& kernels) {
  Tiling t{};
  t.high = ceil_div(conv.oh, kWinogradOut);
  t.wide = ceil_div(conv.ow, kWinogradOut);
  t.count = conv.n * t.high * t.wide;
  t.v_step = conv.c + 16;
  t.m_step = conv.k + 16;
  const int64_t few = kernels.max_vectors == 4 ? 28 : 12;  // a multiple of the tiles of the inner loop
  const int64_t tile_bytes = kWinogradPositions * (t.v_step + t.m_step) * static_cast<int64_t>(sizeof(float));
  const int64_t most = std::clamp<int64_t>(kBlockBytes / tile_bytes, 24, 56);
  t.block = ceil_div(most, few) * few;
  return t;
}

struct TileAt {
  int64_t picture, row, col;  // of its first output pixel
};

TileAt tile_at(const Tiling& tiling, int64_t tile) {
  return {tile / (tiling.high * tiling.wide), tile / tiling.wide % tiling.high * kWinogradOut,
          tile % tiling.wide * kWinogradOut};
}

void transform_input(const DirectConv& conv, const WinogradKernels& kernels, const TileAt& at, const float* x,
                     const float* zeros, float* v, int64_t step) {
  const float* pixels[kWinogradPositions];
  const float* picture = x + at.picture * conv.h * conv.w * conv.x_pitch;
  for (int i = 0; i < kWinogradIn; ++i) {
    const int64_t ih = at.row - conv.pad_top + i;
    for (int j = 0; j < kWinogradIn; ++j) {
      const int64_t iw = at.col - conv.pad_left + j;
      const bool inside = ih >= 0 && ih < conv.h && iw >= 0 && iw < conv.w;
      pixels[i * kWinogradIn + j] = inside ? picture + (ih * conv.w + iw) * conv.x_pitch : zeros;
    }
  }
  kernels.input(pixels, conv.c, v, step);
}

void transform_output(const DirectConv& conv, const WinogradKernels& kernels, const TileAt& at, const float* m,
                      int64_t step, const Epilogue<float>& epilogue, float* y) {
  const int64_t offset = at.picture * conv.y_picture + at.row * conv.y_row + at.col * conv.y_step;
  WinogradOutput out{};
  out.epilogue = epilogue.part(0, offset);
  out.y = y + offset;
  out.row_step = conv.y_row;
  out.col_step = conv.y_step;
  out.rows = static_cast<int>(std::min<int64_t>(kWinogradOut, conv.oh - at.row));
  out.cols = static_cast<int>(std::min<int64_t>(kWinogradOut, conv.ow - at.col));
  out.channels = conv.k;
  kernels.output(m, step, out);
}

// M = V U for one position: `tiles` rows.
void multiply(const DirectConv& conv, const Tiling& tiling, const Panels& panels, const float* u, const float* v,
              int64_t tiles, float* m) {
  RowsTile tile{};
  tile.rows = tile.cols = 1;
  tile.x_step = tiling.v_step;
  tile.run = conv.c;
  tile.y_step = tiling.m_step;
  for (int64_t i = 0; i < panels.count(); ++i) {
    const Panel panel = panels[i];
    const int64_t most = panels.kernels.pixels[panel.vectors];
    tile.w = u + (panel.weights - panels.weights) / 9;
    tile.out.start = panel.start;
    tile.out.channels = panel.channels;
    for (int64_t t = 0; t < tiles; t += most) {
      tile.x = v + t * tiling.v_step;
      tile.out.y = m + t * tiling.m_step + panel.first;
      panels.kernels.rows[panel.vectors][std::min(most, tiles - t)](tile);
    }
  }
}

DirectConv one_group(const DirectConv& conv) {
  DirectConv one = conv;
  one.groups = 1;
  return one;
}

int64_t group_count(Context& context, const DirectConv& one) {
  return kWinogradPositions * Panels(direct_kernels(context), one).lanes() * one.c;
}

void run_group(Context& context, const DirectConv& conv, const float* u, const float* x,
               const Epilogue<float>& epilogue, float* y) {
  Workspace workspace(context);
  const WinogradKernels& kernels = winograd_kernels(context);
  Panels panels(direct_kernels(context), conv);
  pack_epilogue(workspace, conv, nullptr, panels);
  const int64_t u_step = panels.lanes() * conv.c;
  const Tiling tiling = tiling_of(conv, panels.kernels);
  float* zeros = workspace.take<float>(conv.c);
  std::fill(zeros, zeros + conv.c, 0.0f);
  const int64_t v_position = tiling.block * tiling.v_step, m_position = tiling.block * tiling.m_step;
  const int64_t threads = threads_for(context, kMostBlocks);
  float* all_v = workspace.take<float>(threads * kWinogradPositions * v_position);
  float* all_m = workspace.take<float>(threads * kWinogradPositions * m_position);
  const int64_t blocks = ceil_div(tiling.count, tiling.block);
  parallel_for(context, blocks, [&](int64_t block, int thread) {
    float* v = all_v + v_position * kWinogradPositions * thread;
    float* m = all_m + m_position * kWinogradPositions * thread;
    const Range range = chunk_range(tiling.count, blocks, block);
    const int64_t tiles = range.end - range.begin;
    for (int64_t i = 0; i < tiles; ++i) {
      transform_input(conv, kernels, tile_at(tiling, range.begin + i), x, zeros, v + i * tiling.v_step, v_position);
    }
    for (int p = 0; p < kWinogradPositions; ++p) {
      multiply(conv, tiling, panels, u + p * u_step, v + p * v_position, tiles, m + p * m_position);
    }
    for (int64_t i = 0; i < tiles; ++i) {
      transform_output(conv, kernels, tile_at(tiling, range.begin + i), m + i * tiling.m_step, m_position, epilogue, y);
    }
  });
}

}  // namespace

bool parse_winograd_choice(const char* text) {
  const std::string asked = text ? text : "";
  if (asked.empty() || asked == "auto") return true;
  if (asked == "direct") return false;
  throw Error(fmt::format("[conv2d] DNN_CONV is auto or direct; got '{}'", asked));
}

const char* winograd_refuses(const DirectConv& conv, bool packed_once) {
  static const bool wanted = parse_winograd_choice(std::getenv("DNN_CONV"));
  if (!wanted) return "DNN_CONV is direct";
  constexpr int kFewestChannels = 32;
  const int64_t fewest_tiles = packed_once ? 16 : 96;  // below, reading or transforming the filters costs too much
  if (conv.r != 3 || conv.s != 3) return "taps are not 3x3";
  if (conv.stride_h != 1 || conv.stride_w != 1) return "stride is not 1";
  if (conv.dilation_h != 1 || conv.dilation_w != 1) return "dilation is not 1";
  if (conv.c < kFewestChannels || conv.k < kFewestChannels) return "fewer than 32 channels in a group";
  const int64_t tiles = ceil_div(conv.oh, kWinogradOut) * ceil_div(conv.ow, kWinogradOut);
  if (conv.n * tiles < fewest_tiles) return packed_once ? "fewer than 16 tiles" : "fewer than 96 tiles";
  if (tiles * kWinogradPositions * 3 > int64_t{conv.oh} * conv.ow * 9 * 2) return "tiles overhang the picture too far";
  return nullptr;
}

int64_t winograd_packed_count(Context& context, const DirectConv& conv) {
  return conv.groups * group_count(context, one_group(conv));
}

void winograd_pack(Context& context, const DirectConv& conv, const FilterView& filters, float* packed) {
  const DirectConv one = one_group(conv);
  const WinogradKernels& kernels = winograd_kernels(context);
  Workspace workspace(context);
  Panels panels(direct_kernels(context), one);
  float* const taps = workspace.take<float>(panels.size());
  panels.weights = taps;
  const int64_t u_step = panels.lanes() * one.c;
  for (int g = 0; g < conv.groups; ++g, packed += group_count(context, one)) {
    FilterView view = filters;
    view.data += g * filters.group;
    pack_filters(context, one, view, taps);
    parallel_for(context, panels.count(), [&](int64_t i, int) {
      const Panel panel = panels[i];
      const int64_t tap = int64_t{panel.vectors} * panels.kernels.lanes * one.c;
      kernels.filters(panel.weights, tap, tap, packed + (panel.weights - panels.weights) / 9, u_step);
    });
  }
}

void conv2d_winograd(Context& context, const DirectConv& conv, const float* packed, const float* x,
                     const Epilogue<float>& epilogue, float* y) {
  const DirectConv one = one_group(conv);
  for (int64_t g = 0; g < conv.groups; ++g) {
    const int64_t first = g * conv.k;
    run_group(context, one, packed + g * group_count(context, one), x + g * conv.c, epilogue.part(first, first),
              y + first);
  }
}

}  // namespace dnn::cpu
