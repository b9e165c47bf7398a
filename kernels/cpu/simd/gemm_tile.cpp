// The inner loops of gemm: packing, register tiles, dot products, epilogue. After K. Goto and R. van de Geijn, "Anatomy
// of high-performance matrix multiplication" (ACM TOMS 34, 2008).
#include <kernels/cpu/simd/gemm_tile.h>

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/gemm_tile.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/masked_load-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = HWY_LANES(float);

// Rows * vectors accumulators, one row of B and a broadcast value must fit 16 registers (32 with AVX-512).
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 14, kTileVectors = 2, kDotRows = 4, kDotCols = 6;
#elif HWY_TARGET == HWY_SCALAR
constexpr int kTileRows = 4, kTileVectors = 2, kDotRows = 2, kDotCols = 2;
#else
constexpr int kTileRows = 6, kTileVectors = 2, kDotRows = 3, kDotCols = 4;
#endif
constexpr int kTileCols = kTileVectors * kLanes;

struct Tile {
  int64_t cols, k;
  const float* a;
  int64_t a_row, a_k;
  const float* b;
  int64_t b_k;
  float* c;
  int64_t c_row;
  float alpha, beta;
  Epilogue<float> epilogue;         // bias and scale stand at the tile's first column; empty before the last k block
  const float* residual = nullptr;  // of the tile, or null
};

// The activations that are applied to a tile's sums; for the others the stored tile is taken again.
constexpr bool in_registers(UnaryOp op) { return op == UnaryOp::none || op == UnaryOp::relu || op == UnaryOp::relu6; }

// Vector v of the tile's columns; the last may be partial.
template <int kVectors, class M>
HWY_INLINE V load_columns(const Tile& t, M inside, const float* from, int v) {
  const D d;
  const bool whole = v + 1 < kVectors || t.cols == kVectors * kLanes;
  return whole ? hn::LoadU(d, from + v * kLanes) : masked_load(inside, d, from + v * kLanes);
}

// C = activation((alpha * sum + beta * C) * scale + bias + residual). Loops rather than a function for each step, or
// clang keeps the sums in memory.
template <int kRows, int kVectors>
HWY_INLINE void store_tile(const Tile& t, V (&sum)[kRows][kVectors]) {
  const D d;
  const int64_t last = (kVectors - 1) * kLanes;
  const auto inside = hn::FirstN(d, static_cast<size_t>(t.cols - last));
  const V alpha = hn::Set(d, t.alpha), beta = hn::Set(d, t.beta);
  const Epilogue<float>& e = t.epilogue;
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) sum[i][v] = hn::Mul(alpha, sum[i][v]);
  }
  if (t.beta != 0) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i)
        sum[i][v] = hn::MulAdd(beta, load_columns<kVectors>(t, inside, t.c + i * t.c_row, v), sum[i][v]);
    }
  }
  if (e.scale) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const V scale = load_columns<kVectors>(t, inside, e.scale, v);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) sum[i][v] = hn::Mul(sum[i][v], scale);
    }
  }
  if (e.bias) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const V bias = load_columns<kVectors>(t, inside, e.bias, v);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) sum[i][v] = hn::Add(sum[i][v], bias);
    }
  }
  if (t.residual) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i)
        sum[i][v] = hn::Add(sum[i][v], load_columns<kVectors>(t, inside, t.residual + i * t.c_row, v));
    }
  }
  if (e.activation.op == UnaryOp::relu) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) sum[i][v] = activate<UnaryOp::relu>(d, sum[i][v]);
    }
  } else if (e.activation.op == UnaryOp::relu6) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) sum[i][v] = activate<UnaryOp::relu6>(d, sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    float* c = t.c + i * t.c_row;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors - 1; ++v) hn::StoreU(sum[i][v], d, c + v * kLanes);
    if (t.cols == kVectors * kLanes) {
      hn::StoreU(sum[i][kVectors - 1], d, c + last);
    } else {
      hn::BlendedStore(sum[i][kVectors - 1], inside, d, c + last);
    }
  }
}

template <int kRows, int kVectors>
void tile(const Tile& t) {
  const D d;
  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
    hwy::Prefetch(t.c + i * t.c_row);
  }
  const float* a = t.a;
  const float* b = t.b;
  const int64_t a_row = t.a_row, a_k = t.a_k, b_k = t.b_k;
#pragma GCC unroll 4
  for (int64_t p = 0; p < t.k; ++p, a += a_k, b += b_k) {
    V y[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) y[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V x = hn::Set(d, a[i * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(x, y[v], sum[i][v]);
    }
  }
  store_tile(t, sum);
}

using TileFunction = void (*)(const Tile&);

template <int... kRowsLess1>
TileFunction tile_function(std::integer_sequence<int, kRowsLess1...>, int64_t rows, int64_t vectors) {
  static constexpr TileFunction table[][kTileVectors] = {{tile<kRowsLess1 + 1, 1>, tile<kRowsLess1 + 1, 2>}...};
  return table[rows - 1][vectors - 1];
}

// The rows of tile t of `tiles`: an even split.
HWY_INLINE int64_t first_row(int64_t m, int64_t tiles, int64_t t) { return m * t / tiles; }

void finish(const Epilogue<float>& epilogue, int64_t m, int64_t n, float* c, int64_t c_row) {
  if (epilogue.scale || epilogue.bias || epilogue.residual) {
    for (int64_t i = 0; i < m; ++i) {
      float* y = c + i * c_row;
      const float* residual = epilogue.residual ? epilogue.residual + i * c_row : nullptr;
      for_vectors(n, [&](auto d, int64_t j) HWY_ATTR {
        auto x = hn::LoadU(d, y + j);
        if (epilogue.scale) x = hn::Mul(x, hn::LoadU(d, epilogue.scale + j));
        if (epilogue.bias) x = hn::Add(x, hn::LoadU(d, epilogue.bias + j));
        if (residual) x = hn::Add(x, hn::LoadU(d, residual + j));
        hn::StoreU(x, d, y + j);
      });
    }
  }
  activate_block(epilogue.activation, m, n, c_row, c);
}

// Panel by panel, so that a panel of B stays in L1 while the tiles of A pass by from L2.
void block(const GemmBlock& g) {
  const int64_t tiles = (g.m + kTileRows - 1) / kTileRows;
  Tile t;
  t.k = g.k;
  t.c_row = g.c_row;
  t.alpha = g.alpha;
  t.beta = g.beta;
  const Epilogue<float> epilogue = g.finish ? g.epilogue : Epilogue<float>();
  for (int64_t col = 0; col < g.n; col += kTileCols) {
    t.cols = std::min<int64_t>(kTileCols, g.n - col);
    t.epilogue = epilogue.part(col, 0);
    if (g.b_k == 0) {
      t.b = g.b + col * g.k;
      t.b_k = kTileCols;
    } else if (t.cols == kTileCols) {
      t.b = g.b + col;
      t.b_k = g.b_k;
    } else {
      t.b = g.b_edge;
      t.b_k = kTileCols;
    }
    const int64_t vectors = (t.cols + kLanes - 1) / kLanes;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t row = first_row(g.m, tiles, i), rows = first_row(g.m, tiles, i + 1) - row;
      const bool packed = g.a_row == 0;
      t.a = g.a + row * (packed ? g.k : g.a_row);
      t.a_row = packed ? 1 : g.a_row;
      t.a_k = packed ? rows : g.a_k;
      t.c = g.c + row * g.c_row + col;
      if (epilogue.residual) t.residual = epilogue.residual + row * g.c_row + col;
      tile_function(std::make_integer_sequence<int, kTileRows>(), rows, vectors)(t);
      if (!in_registers(epilogue.activation.op)) activate_block(epilogue.activation, rows, t.cols, g.c_row, t.c);
    }
  }
}

// ---- packing

// Panel (k, width): to[p * width + i] = from[i * pitch + p] where i < have, else 0. Writes whole vectors, so up to
// kPackSlack values behind the panel. Meanwhile fetches the next panel's `next` rows, which follow: each lies in a page
// of its own, where the processor's own prefetching starts too late.
void pack_across(int64_t width, int64_t have, int64_t next, int64_t k, const float* from, int64_t pitch, float* to) {
  int64_t p = 0;
#if HWY_TARGET != HWY_SCALAR
  // Blocks of 8 rows by 4 columns turn in registers: the halves of v[i] are 4 columns of rows i and i + 4.
  constexpr int64_t kLine = 16;
  const hn::CappedTag<float, 8> d8;
  const hn::CappedTag<float, 4> d4;
  const hn::Repartition<double, decltype(d8)> pairs;
  for (; p + 4 <= k; p += 4) {
    if (p % kLine == 0) {
      for (int64_t i = have; i < have + next; ++i) hwy::Prefetch(from + i * pitch + p);
    }
    float* out = to + p * width;
    for (int64_t i = (width - 1) / 8 * 8; i >= 0; i -= 8) {  // backwards: see the stores
      const float* row[8];
#pragma GCC unroll 8
      for (int r = 0; r < 8; ++r) row[r] = from + std::min(i + r, have - 1) * pitch + p;
      hn::Vec<decltype(d8)> v[4];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) v[r] = hn::Combine(d8, hn::LoadU(d4, row[r + 4]), hn::LoadU(d4, row[r]));
      const auto low01 = hn::InterleaveLower(d8, v[0], v[1]), high01 = hn::InterleaveUpper(d8, v[0], v[1]);
      const auto low23 = hn::InterleaveLower(d8, v[2], v[3]), high23 = hn::InterleaveUpper(d8, v[2], v[3]);
      hn::Vec<decltype(d8)> column[4] = {
          hn::BitCast(d8, hn::InterleaveLower(pairs, hn::BitCast(pairs, low01), hn::BitCast(pairs, low23))),
          hn::BitCast(d8, hn::InterleaveUpper(pairs, hn::BitCast(pairs, low01), hn::BitCast(pairs, low23))),
          hn::BitCast(d8, hn::InterleaveLower(pairs, hn::BitCast(pairs, high01), hn::BitCast(pairs, high23))),
          hn::BitCast(d8, hn::InterleaveUpper(pairs, hn::BitCast(pairs, high01), hn::BitCast(pairs, high23)))};
      if (have < width && have < i + 8) {
        const auto inside = hn::FirstN(d8, static_cast<size_t>(std::max<int64_t>(have - i, 0)));
        for (auto& c : column) c = hn::IfThenElseZero(inside, c);
      }
      // What a store writes behind its column's end, the store of the next column's head overwrites.
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) hn::StoreU(column[c], d8, out + c * width + i);
    }
  }
#else
  (void)next;
#endif
  for (; p < k; ++p) {
    for (int64_t i = 0; i < width; ++i) to[p * width + i] = i < have ? from[i * pitch + p] : 0.0f;
  }
}

// Panel (k, width): to[p * width + i] = from[p * pitch + i] where i < have, else 0. Writes whole vectors as well.
void pack_along(int64_t width, int64_t have, int64_t k, const float* from, int64_t pitch, float* to) {
  const D d;
  const int64_t whole = have / kLanes * kLanes;
  const auto inside = hn::FirstN(d, static_cast<size_t>(have - whole));
  for (int64_t p = 0; p < k; ++p, from += pitch, to += width) {
    int64_t i = 0;
    for (; i < whole; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    if (i == width) continue;
    hn::StoreU(masked_load(inside, d, from + i), d, to + i);
    for (i += kLanes; i < width; i += kLanes) hn::StoreU(hn::Zero(d), d, to + i);
  }
}

void pack_a(bool k_runs, int64_t m, int64_t k, const float* a, int64_t pitch, float* packed) {
  const int64_t tiles = (m + kTileRows - 1) / kTileRows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = first_row(m, tiles, i), rows = first_row(m, tiles, i + 1) - row;
    if (k_runs) {
      const int64_t next = i + 1 < tiles ? first_row(m, tiles, i + 2) - row - rows : 0;
      pack_across(rows, rows, next, k, a + row * pitch, pitch, packed + row * k);
    } else {
      pack_along(rows, rows, k, a + row, pitch, packed + row * k);
    }
  }
}

void pack_b(bool k_runs, int64_t n, int64_t k, const float* b, int64_t pitch, float* packed) {
  for (int64_t col = 0; col < n; col += kTileCols) {
    const int64_t have = std::min<int64_t>(kTileCols, n - col);
    if (k_runs) {
      const int64_t next = std::min<int64_t>(kTileCols, n - col - have);
      pack_across(kTileCols, have, next, k, b + col * pitch, pitch, packed + col * k);
    } else {
      pack_along(kTileCols, have, k, b + col, pitch, packed + col * k);
    }
  }
}

// ---- dot products

template <int kRows, int kCols>
void dot_tile(const GemmBlock& g, int64_t row, int64_t col) {
  const D d;
  V sum[kRows][kCols];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) sum[i][j] = hn::Zero(d);
  }
  const float* a = g.a + row * g.a_row;
  const float* b = g.b + col * g.b_k;
  int64_t p = 0;
  for (; p + kLanes <= g.k; p += kLanes) {
    V x[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) x[i] = hn::LoadU(d, a + i * g.a_row + p);
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) {
      const V y = hn::LoadU(d, b + j * g.b_k + p);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum[i][j] = hn::MulAdd(x[i], y, sum[i][j]);
    }
  }
  if (p < g.k) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(g.k - p));
    V x[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) x[i] = masked_load(inside, d, a + i * g.a_row + p);
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) {
      const V y = masked_load(inside, d, b + j * g.b_k + p);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum[i][j] = hn::MulAdd(x[i], y, sum[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) {
      float& c = g.c[(row + i) * g.c_row + col + j];
      const float y = g.alpha * hn::GetLane(hn::SumOfLanes(d, sum[i][j]));
      c = g.beta == 0 ? y : y + g.beta * c;
    }
  }
}

using DotFunction = void (*)(const GemmBlock&, int64_t row, int64_t col);

template <int kRows, int... kColsLess1>
DotFunction dot_cols(std::integer_sequence<int, kColsLess1...>, int64_t cols) {
  static constexpr DotFunction table[] = {dot_tile<kRows, kColsLess1 + 1>...};
  return table[cols - 1];
}

template <int... kRowsLess1>
DotFunction dot_function(std::integer_sequence<int, kRowsLess1...>, int64_t rows, int64_t cols) {
  using Cols = std::make_integer_sequence<int, kDotCols>;
  DotFunction found = nullptr;
  ((rows == kRowsLess1 + 1 ? found = dot_cols<kRowsLess1 + 1>(Cols(), cols) : found), ...);
  return found;
}

void dot(const GemmBlock& g) {
  for (int64_t col = 0; col < g.n; col += kDotCols) {
    const int64_t cols = std::min<int64_t>(kDotCols, g.n - col);
    for (int64_t row = 0; row < g.m; row += kDotRows) {
      const int64_t rows = std::min<int64_t>(kDotRows, g.m - row);
      dot_function(std::make_integer_sequence<int, kDotRows>(), rows, cols)(g, row, col);
    }
  }
  if (g.finish) finish(g.epilogue, g.m, g.n, g.c, g.c_row);
}

constexpr GemmLoops gemm_loops{kTileRows, kTileCols, kDotRows, kDotCols, pack_a, pack_b, block, dot, finish};

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

const PerIsa<GemmLoops> gemm_loops{N_SCALAR::gemm_loops, N_AVX2::gemm_loops, N_AVX3::gemm_loops};

}  // namespace dnn::cpu
#endif
