// C = alpha * op(A) op(B) + beta * C, then the epilogue. Which method, which blocks, which thread; the inner loops are
// in simd/gemm_tile.cpp. Every element of C is summed over k in the same order whatever the number of threads.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/simd/gemm_tile.h>
#include <kernels/parallel.h>
#include <kernels/verbose.h>

namespace dnn::cpu {
namespace {

constexpr int64_t kBlockK = 256;          // a panel of B, kBlockK x tile_cols, stays in L1
constexpr int64_t kBlockM = 144;          // a block of A, kBlockM x kBlockK, stays in L2
constexpr int64_t kBlockN = 4096;         // a block of B, kBlockK x kBlockN, stays in L3
constexpr int64_t kChunkN = 1024;          // columns that one chunk multiplies with its block of A
constexpr int64_t kChunkFlops = 1 << 21;  // below it a second thread costs more than it brings

struct Operands {
  const float* a;
  const float* b;
  const Epilogue<float>& epilogue;
  float* c;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The k blocks: the first applies the caller's beta, the last the epilogue. k = 0 has one, which is empty.
int64_t k_blocks(int64_t k) { return std::max<int64_t>(ceil_div(k, kBlockK), 1); }

// The block of C at (row, col) in the k block `range`.
GemmBlock block_at(const GemmShape& shape, const Operands& x, Range rows, Range cols, Range range) {
  GemmBlock g;
  g.m = rows.end - rows.begin;
  g.n = cols.end - cols.begin;
  g.k = range.end - range.begin;
  g.c_row = shape.c_pitch();
  g.c = x.c + rows.begin * g.c_row + cols.begin;
  g.alpha = static_cast<float>(shape.alpha);
  g.beta = range.begin == 0 ? static_cast<float>(shape.beta) : 1.0f;
  g.finish = range.end == shape.k;
  g.epilogue = x.epilogue;
  if (g.epilogue.bias) g.epilogue.bias += cols.begin;
  if (g.epilogue.residual) g.epilogue.residual += rows.begin * g.c_row + cols.begin;
  return g;
}

const float* a_at(const GemmShape& shape, const float* a, int64_t row, int64_t p) {
  return shape.trans_a ? a + p * shape.a_pitch() + row : a + row * shape.a_pitch() + p;
}

const float* b_at(const GemmShape& shape, const float* b, int64_t p, int64_t col) {
  return shape.trans_b ? b + col * shape.b_pitch() + p : b + p * shape.b_pitch() + col;
}

// Few rows of A against a transposed B: dot products, B is read once where it lies.
void gemm_dot(Context& context, const GemmShape& shape, const Operands& x) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t chunks = chunk_count(shape.n, ceil_div(kChunkFlops, 2 * int64_t{shape.m} * std::max(shape.k, 1)));
  Workspace workspace(context);
  const float* a = x.a;
  int64_t a_row = shape.a_pitch();
  if (shape.trans_a) {
    float* rows = workspace.take<float>(int64_t{shape.m} * shape.k);
    a = rows;
    a_row = shape.k;
    for (int64_t p = 0; p < shape.k; ++p) {
      for (int64_t i = 0; i < shape.m; ++i) rows[i * a_row + p] = x.a[p * shape.a_pitch() + i];
    }
  }
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range cols = chunk_range(shape.n, chunks, chunk);
    const int64_t blocks = k_blocks(shape.k);
    for (int64_t i = 0; i < blocks; ++i) {
      const Range k = chunk_range(shape.k, blocks, i);
      GemmBlock g = block_at(shape, x, {0, shape.m}, cols, k);
      g.a = a + k.begin;
      g.a_row = a_row;
      g.b = b_at(shape, x.b, k.begin, cols.begin);
      g.b_k = shape.b_pitch();
      loops.dot(g);
    }
  });
}

// A few blocks of rows at most: each chunk packs its own columns of B and reads A where it lies.
void gemm_wide(Context& context, const GemmShape& shape, const Operands& x) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t panels = ceil_div(shape.n, loops.tile_cols);
  const int64_t panel_flops = 2 * int64_t{shape.m} * std::max(shape.k, 1) * loops.tile_cols;
  const int64_t chunks = chunk_count(panels, ceil_div(kChunkFlops, panel_flops));
  const int64_t blocks = k_blocks(shape.k);
  const int64_t packed_b = ceil_div(panels, chunks) * loops.tile_cols * std::min<int64_t>(shape.k, kBlockK);
  Workspace workspace(context);
  float* scratch = workspace.take<float>(packed_b * threads_for(context, chunks));
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(panels, chunks, chunk);
    const Range cols{range.begin * loops.tile_cols, std::min<int64_t>(range.end * loops.tile_cols, shape.n)};
    float* packed = scratch + packed_b * thread;
    for (int64_t i = 0; i < blocks; ++i) {
      const Range k = chunk_range(shape.k, blocks, i);
      GemmBlock g = block_at(shape, x, {0, shape.m}, cols, k);
      loops.pack_b(shape.trans_b, g.n, g.k, b_at(shape, x.b, k.begin, cols.begin), shape.b_pitch(), packed);
      g.a = a_at(shape, x.a, 0, k.begin);
      g.a_row = shape.trans_a ? 1 : shape.a_pitch();
      g.a_k = shape.trans_a ? shape.a_pitch() : 1;
      g.b = packed;
      loops.block(g);
    }
  });
}

// The general method: B is packed by all threads for all, then each chunk packs a block of rows of A and multiplies.
void gemm_packed(Context& context, const GemmShape& shape, const Operands& x) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t tiles = ceil_div(shape.m, loops.tile_rows);
  const int64_t row_blocks = ceil_div(tiles, kBlockM / loops.tile_rows);
  const int64_t n_blocks = ceil_div(shape.n, kBlockN), blocks = k_blocks(shape.k);
  const int64_t panels = ceil_div(ceil_div(shape.n, n_blocks), loops.tile_cols);
  const int64_t depth = std::min<int64_t>(shape.k, kBlockK);
  const int64_t packed_a = (ceil_div(tiles, row_blocks) * loops.tile_rows * depth + kPackSlack + 15) / 16 * 16;
  Workspace workspace(context);
  float* b_scratch = workspace.take<float>(panels * loops.tile_cols * depth);
  float* a_scratch = workspace.take<float>(packed_a * threads_for(context, 1 << 20));
  for (int64_t col = 0; col < shape.n; col += panels * loops.tile_cols) {
    const int64_t n = std::min<int64_t>(panels * loops.tile_cols, shape.n - col);
    const int64_t here = ceil_div(n, loops.tile_cols);  // panels
    for (int64_t i = 0; i < blocks; ++i) {
      const Range k = chunk_range(shape.k, blocks, i);
      const int64_t depth_here = k.end - k.begin;
      const int64_t pack_chunks = chunk_count(here, 8);
      parallel_for(context, pack_chunks, [&](int64_t chunk, int) {
        const Range range = chunk_range(here, pack_chunks, chunk);
        const int64_t first = range.begin * loops.tile_cols, last = std::min(range.end * loops.tile_cols, n);
        loops.pack_b(shape.trans_b, last - first, depth_here, b_at(shape, x.b, k.begin, col + first), shape.b_pitch(),
                     b_scratch + first * depth_here);
      });
      const int64_t col_chunks = chunk_count(here, kChunkN / loops.tile_cols);
      parallel_for(context, row_blocks * col_chunks, [&](int64_t chunk, int thread) {
        const Range row_tiles = chunk_range(tiles, row_blocks, chunk / col_chunks);
        const Range rows{shape.m * row_tiles.begin / tiles, shape.m * row_tiles.end / tiles};
        const Range range = chunk_range(here, col_chunks, chunk % col_chunks);
        const int64_t first = range.begin * loops.tile_cols, last = std::min(range.end * loops.tile_cols, n);
        GemmBlock g = block_at(shape, x, rows, {col + first, col + last}, k);
        float* packed = a_scratch + packed_a * thread;
        loops.pack_a(!shape.trans_a, g.m, g.k, a_at(shape, x.a, rows.begin, k.begin), shape.a_pitch(), packed);
        g.a = packed;
        g.b = b_scratch + first * depth_here;
        loops.block(g);
      });
    }
  }
}

struct Method {
  const char* name;
  const char* (*refusal)(const GemmShape&);  // why it doesn't take a shape; null: it does
  void (*run)(Context&, const GemmShape&, const Operands&);
};

// The most special first.
constexpr Method kMethods[] = {
    {"gemm_dot",
     [](const GemmShape& s) -> const char* {
       if (!s.trans_b) return "B is not transposed";
       return s.m > 12 ? "enough rows to pack B" : nullptr;
     },
     gemm_dot},
    {"gemm_wide", [](const GemmShape& s) { return s.m > 192 ? "too many rows" : nullptr; }, gemm_wide},
    {"gemm_packed", [](const GemmShape&) -> const char* { return nullptr; }, gemm_packed},
};

}  // namespace

void gemm(Context& context, const GemmShape& shape, const float* a, const float* b, const Epilogue<float>& epilogue,
          float* c) {
  if (shape.m == 0 || shape.n == 0) return;
  for (const Method& method : kMethods) {
    if (method.refusal(shape)) continue;
    const VerboseCall report("gemm", shape, method.name);
    return method.run(context, shape, {a, b, epilogue, c});
  }
}

}  // namespace dnn::cpu
