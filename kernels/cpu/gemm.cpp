// C = alpha * op(A) op(B) + beta * C, then the epilogue. Which method, which blocks, which thread; the inner loops are
// in simd/gemm_tile.cpp. Every element of C is summed over k in the same order whatever the number of threads.
#include <fmt/format.h>

#include <cassert>
#include <cstdlib>
#include <string>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/gemm_methods.h>
#include <kernels/cpu/simd/gemm_tile.h>
#include <kernels/parallel.h>
#include <kernels/verbose.h>

namespace dnn::cpu {
namespace {

constexpr int64_t kBlockK = 256;          // a panel of B, kBlockK x tile_cols, stays in L1
constexpr int64_t kBlockM = 144;          // a block of A, kBlockM x kBlockK, stays in L2
constexpr int64_t kBlockN = 4096;         // a block of B, kBlockK x kBlockN, stays in L3
constexpr int64_t kChunkN = 1024;         // columns that one chunk multiplies with its block of A
constexpr int64_t kStreams = 16;          // rows of B read side by side where B is not packed
constexpr int64_t kChunkFlops = 1 << 21;  // below it a second thread costs more than it brings
constexpr int64_t kChunkFlopsPerRow = 1 << 18;
constexpr double kOwnThreadsFlops = 1 << 25;  // a product of a batch that all threads share
constexpr int64_t kSplitK = 2048;             // the shortest sum for a chunk of its own
constexpr int64_t kMostSplits = 8;

struct Operands {
  const float* a;
  const float* b;
  Epilogue<float> epilogue;
  float* c;
  bool b_packed = false;  // b is the whole matrix in panels: packed_offset()

  Operands of_product(const GemmShape& shape, int64_t i) const {
    Operands x = *this;
    x.a += i * shape.a_stride;
    x.b += i * shape.b_stride;
    x.c += i * shape.c_step();
    x.epilogue = epilogue.part(0, i * shape.c_step());
    return x;
  }
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The k blocks: the first applies the caller's beta, the last the epilogue. k = 0 has one, which is empty.
int64_t k_blocks(int64_t k, int64_t depth) { return std::max<int64_t>(ceil_div(k, depth), 1); }

// Chunks of a batch: of the columns of each product or, where a product is too small for a chunk, of whole products.
struct Chunks {
  int64_t products, columns;
  int64_t count() const { return products * columns; }
};

// For products of `count` columns or panels that cost `flops` each. Few rows are bound by reading B.
Chunks chunks_of(const GemmShape& shape, int64_t count, int64_t flops) {
  const int64_t least = std::min(kChunkFlops, shape.m * kChunkFlopsPerRow);
  const int64_t columns = chunk_count(count, ceil_div(least, std::max<int64_t>(flops, 1)));
  if (columns > 1) return {shape.batch, columns};
  return {chunk_count(shape.batch, ceil_div(least, std::max<int64_t>(flops * count, 1))), 1};
}

// f(operands of a product, range of its `count` columns or panels, thread) for all of the batch.
template <class F>
void for_each_range(Context& context, const GemmShape& shape, const Operands& x, const Chunks& chunks, int64_t count,
                    F&& f) {
  parallel_for(context, chunks.count(), [&](int64_t chunk, int thread) {
    const Range products = chunk_range(shape.batch, chunks.products, chunk / chunks.columns);
    const Range range = chunk_range(count, chunks.columns, chunk % chunks.columns);
    for (int64_t i = products.begin; i < products.end; ++i) f(x.of_product(shape, i), range, thread);
  });
}

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
  g.epilogue = x.epilogue.part(cols.begin, rows.begin * g.c_row + cols.begin);
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
  const Chunks chunks = chunks_of(shape, shape.n, 2 * int64_t{shape.m} * shape.k);
  Workspace workspace(context);
  Operands all = x;
  int64_t a_row = shape.a_pitch();
  if (shape.trans_a) {  // of one product
    float* rows = workspace.take<float>(int64_t{shape.m} * shape.k);
    all.a = rows;
    a_row = shape.k;
    for (int64_t p = 0; p < shape.k; ++p) {
      for (int64_t i = 0; i < shape.m; ++i) rows[i * a_row + p] = x.a[p * shape.a_pitch() + i];
    }
  }
  const int64_t blocks = k_blocks(shape.k, kBlockK);
  for_each_range(context, shape, all, chunks, shape.n, [&](const Operands& one, Range cols, int) {
    for (int64_t i = 0; i < blocks; ++i) {
      const Range k = chunk_range(shape.k, blocks, i);
      GemmBlock g = block_at(shape, one, {0, shape.m}, cols, k);
      g.a = one.a + k.begin;
      g.a_row = a_row;
      g.b = b_at(shape, one.b, k.begin, cols.begin);
      g.b_k = shape.b_pitch();
      loops.dot(g);
    }
  });
}

// Few rows of A against B as it lies: a few rows of B at a time pass by all columns of C, which stays in L1 or L2.
void gemm_streams(Context& context, const GemmShape& shape, const Operands& x) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t panels = ceil_div(shape.n, loops.tile_cols);
  const Chunks chunks = chunks_of(shape, panels, 2 * int64_t{shape.m} * shape.k * loops.tile_cols);
  const int64_t blocks = k_blocks(shape.k, kStreams), edge_size = kStreams * loops.tile_cols;
  Workspace workspace(context);
  float* scratch = workspace.take<float>(edge_size * threads_for(context, chunks.count()));
  for_each_range(context, shape, x, chunks, panels, [&](const Operands& one, Range range, int thread) {
    const Range cols{range.begin * loops.tile_cols, std::min<int64_t>(range.end * loops.tile_cols, shape.n)};
    const int64_t edge_cols = (cols.end - cols.begin) % loops.tile_cols;
    float* edge = scratch + edge_size * thread;
    for (int64_t i = 0; i < blocks; ++i) {
      const Range k = chunk_range(shape.k, blocks, i);
      GemmBlock g = block_at(shape, one, {0, shape.m}, cols, k);
      g.a = a_at(shape, one.a, 0, k.begin);
      g.a_row = shape.trans_a ? 1 : shape.a_pitch();
      g.a_k = shape.trans_a ? shape.a_pitch() : 1;
      g.b = b_at(shape, one.b, k.begin, cols.begin);
      g.b_k = shape.b_pitch();
      if (edge_cols > 0) {
        const float* last = b_at(shape, one.b, k.begin, cols.end - edge_cols);
        loops.pack_b(false, edge_cols, g.k, last, shape.b_pitch(), edge);
        g.b_edge = edge;
      }
      loops.block(g);
    }
  });
}

// The whole of B in panels: [k block][panel][k][tile_cols]. The panel that begins with column `col`, in the k block
// `range`.
int64_t packed_offset(const GemmLoops& loops, const GemmShape& shape, Range range, int64_t col) {
  return range.begin * ceil_div(shape.n, loops.tile_cols) * loops.tile_cols + col * (range.end - range.begin);
}

int64_t packed_columns(const GemmLoops& loops, int64_t panels, int64_t k) {
  return panels * loops.tile_cols * std::min(k, kBlockK);
}

// The columns `cols` of C over the range `sum` of k by one thread: packs them of B into `packed` where they aren't yet,
// reads A where it lies.
void multiply_columns(const GemmLoops& loops, const GemmShape& shape, const Operands& x, Range cols, Range sum,
                      float* packed) {
  const int64_t blocks = k_blocks(sum.end - sum.begin, kBlockK);
  for (int64_t i = 0; i < blocks; ++i) {
    const Range part = chunk_range(sum.end - sum.begin, blocks, i);
    const Range k{sum.begin + part.begin, sum.begin + part.end};
    GemmBlock g = block_at(shape, x, {0, shape.m}, cols, k);
    if (i == 0) g.beta = static_cast<float>(shape.beta);
    g.a = a_at(shape, x.a, 0, k.begin);
    g.a_row = shape.trans_a ? 1 : shape.a_pitch();
    g.a_k = shape.trans_a ? shape.a_pitch() : 1;
    if (x.b_packed) {
      g.b = x.b + packed_offset(loops, shape, k, cols.begin);
    } else {
      loops.pack_b(shape.trans_b, g.n, g.k, b_at(shape, x.b, k.begin, cols.begin), shape.b_pitch(), packed);
      g.b = packed;
    }
    loops.block(g);
  }
}

// A block or two of rows, or a batch of small products: each chunk packs its own columns of B.
void gemm_wide(Context& context, const GemmShape& shape, const Operands& x) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t panels = ceil_div(shape.n, loops.tile_cols);
  const Chunks chunks = chunks_of(shape, panels, 2 * int64_t{shape.m} * shape.k * loops.tile_cols);
  const int64_t packed = x.b_packed ? 0 : packed_columns(loops, ceil_div(panels, chunks.columns), shape.k);
  Workspace workspace(context);
  float* scratch = workspace.take<float>(packed * threads_for(context, chunks.count()));
  for_each_range(context, shape, x, chunks, panels, [&](const Operands& one, Range range, int thread) {
    const Range cols{range.begin * loops.tile_cols, std::min<int64_t>(range.end * loops.tile_cols, shape.n)};
    multiply_columns(loops, shape, one, cols, {0, shape.k}, scratch + packed * thread);
  });
}

// A small C and long sums: every chunk of k has a result of its own; these are added in the order of the chunks.
void gemm_split_k(Context& context, const GemmShape& shape, const Operands& x) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t chunks = chunk_count(shape.k, kSplitK, kMostSplits);
  const int64_t size = int64_t{shape.m} * shape.n;
  const int64_t packed = packed_columns(loops, ceil_div(shape.n, loops.tile_cols), shape.k);
  Workspace workspace(context);
  float* parts = workspace.take<float>(size * chunks);
  float* scratch = workspace.take<float>(packed * threads_for(context, chunks));
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    GemmShape part = shape;
    part.ldc = shape.n;
    part.alpha = 1;
    part.beta = 0;
    multiply_columns(loops, part, {x.a, x.b, {}, parts + size * chunk}, {0, shape.n},
                     chunk_range(shape.k, chunks, chunk), scratch + packed * thread);
  });
  const float alpha = static_cast<float>(shape.alpha), beta = static_cast<float>(shape.beta);
  for (int64_t i = 0; i < shape.m; ++i) {
    float* c = x.c + i * shape.c_pitch();
    for (int64_t j = 0; j < shape.n; ++j) {
      float sum = 0;
      for (int64_t part = 0; part < chunks; ++part) sum += parts[size * part + i * shape.n + j];
      c[j] = beta == 0 ? alpha * sum : alpha * sum + beta * c[j];
    }
  }
  loops.finish(x.epilogue, shape.m, shape.n, x.c, shape.c_pitch());
}

// The general method: B is packed by all threads for all, then each chunk packs a block of rows of A and multiplies.
void gemm_packed(Context& context, const GemmShape& shape, const Operands& x) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t tiles = ceil_div(shape.m, loops.tile_rows);
  const int64_t row_blocks = ceil_div(tiles, kBlockM / loops.tile_rows);
  const int64_t n_blocks = ceil_div(shape.n, kBlockN), blocks = k_blocks(shape.k, kBlockK);
  const int64_t panels = ceil_div(ceil_div(shape.n, n_blocks), loops.tile_cols);
  const int64_t depth = std::min<int64_t>(shape.k, kBlockK);
  const int64_t packed_a = (ceil_div(tiles, row_blocks) * loops.tile_rows * depth + kPackSlack + 15) / 16 * 16;
  Workspace workspace(context);
  float* b_scratch = workspace.take<float>(x.b_packed ? 0 : panels * loops.tile_cols * depth);
  float* a_scratch = workspace.take<float>(packed_a * threads_for(context, 1 << 20));
  for (int64_t col = 0; col < shape.n; col += panels * loops.tile_cols) {
    const int64_t n = std::min<int64_t>(panels * loops.tile_cols, shape.n - col);
    const int64_t here = ceil_div(n, loops.tile_cols);  // panels
    for (int64_t i = 0; i < blocks; ++i) {
      const Range k = chunk_range(shape.k, blocks, i);
      const int64_t depth_here = k.end - k.begin;
      const int64_t pack_chunks = chunk_count(x.b_packed ? 0 : here, 8);
      const float* const b = x.b_packed ? x.b + packed_offset(loops, shape, k, col) : b_scratch;
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
        g.b = b + first * depth_here;
        loops.block(g);
      });
    }
  }
}

using Refusal = const char*;  // why a method doesn't take a shape; null: it does

Refusal refuses_openblas(const GemmShape& s) {
  if (gemm_choice() != GemmChoice::openblas) return "not asked for by DNN_GEMM";
  return s.k == 0 ? "there is nothing to multiply" : nullptr;
}

Refusal refuses_dot(const GemmShape& s) {
  if (!s.trans_b) return "B is not transposed";
  if (s.trans_a && s.batch > 1) return "A is transposed, for each product of a batch";
  const bool few_columns = s.n <= 12 && s.m <= 64;
  return s.m <= 16 || few_columns ? nullptr : "enough rows to pack B";
}

Refusal refuses_streams(const GemmShape& s) {
  if (s.trans_b) return "B is transposed";
  return s.m <= 8 ? nullptr : "enough rows to pack B";
}

Refusal refuses_split_k(const GemmShape& s) {
  if (s.m > 192 || s.n > 64) return "C is large enough to share out";
  return s.k >= 2 * kSplitK ? nullptr : "the sums are short";
}

Refusal refuses_wide(const GemmShape& s) {
  const bool small = s.batch > 1 && 2.0 * s.m * s.n * s.k < kOwnThreadsFlops;
  return s.m <= 192 || small ? nullptr : "enough rows to share packed panels of B";
}

struct Method {
  const char* name;
  Refusal (*refusal)(const GemmShape&);
  void (*run)(Context&, const GemmShape&, const Operands&);
};

// For the methods of one product, which share it out themselves.
template <void (*kRun)(Context&, const GemmShape&, const Operands&)>
void one_by_one(Context& context, const GemmShape& shape, const Operands& x) {
  GemmShape one = shape;
  one.batch = 1;
  for (int64_t i = 0; i < shape.batch; ++i) kRun(context, one, x.of_product(shape, i));
}

void run_openblas(Context& context, const GemmShape& shape, const Operands& x) {
  gemm_openblas(context, shape, x.a, x.b, x.epilogue, x.c);
}

// The most special first; the last takes everything.
constexpr Method kMethods[] = {
    {"gemm_openblas", refuses_openblas, one_by_one<run_openblas>},
    {"gemm_split_k", refuses_split_k, one_by_one<gemm_split_k>},
    {"gemm_dot", refuses_dot, gemm_dot},
    {"gemm_streams", refuses_streams, gemm_streams},
    {"gemm_wide", refuses_wide, gemm_wide},
    {"gemm_packed", [](const GemmShape&) -> Refusal { return nullptr; }, one_by_one<gemm_packed>},
};

const Method& route(const GemmShape& joined) {
  const Method* method = kMethods;
  while (method->refusal(joined)) ++method;
  return *method;
}

}  // namespace

const char* gemm_route(const GemmShape& shape) { return route(shape.rows_joined()).name; }

GemmChoice parse_gemm_choice(const char* text) {
  const std::string asked = text ? text : "";
  if (asked.empty() || asked == "packed") return GemmChoice::packed;
  if (asked != "openblas") throw Error(fmt::format("[gemm] DNN_GEMM is packed or openblas; got '{}'", asked));
  if (!openblas_built()) {
    throw Error("[gemm] DNN_GEMM asks for openblas, which this build has not; configure with -DDNN_OPENBLAS=ON");
  }
  return GemmChoice::openblas;
}

GemmChoice gemm_choice() {
  static const GemmChoice choice = parse_gemm_choice(std::getenv("DNN_GEMM"));
  return choice;
}

void gemm(Context& context, const GemmShape& shape, const float* a, const float* b, const Epilogue<float>& epilogue,
          float* c) {
  if (shape.batch == 0 || shape.m == 0 || shape.n == 0) return;
  const GemmShape joined = shape.rows_joined();
  const Method& method = route(joined);
  const VerboseCall report("gemm", shape, method.name);
  method.run(context, joined, {a, b, epilogue, c});
}

int64_t gemm_packed_size(Context& context, const GemmShape& shape) {
  const int64_t tile_cols = gemm_loops[context].tile_cols;
  return ceil_div(shape.n, tile_cols) * tile_cols * shape.k;
}

void gemm_pack_b(Context& context, const GemmShape& shape, const float* b, float* packed) {
  const GemmLoops& loops = gemm_loops[context];
  const int64_t panels = ceil_div(shape.n, loops.tile_cols), blocks = k_blocks(shape.k, kBlockK);
  parallel_for(context, panels, [&](int64_t panel, int) {
    const int64_t col = panel * loops.tile_cols, cols = std::min<int64_t>(loops.tile_cols, shape.n - col);
    for (int64_t i = 0; i < blocks; ++i) {
      const Range k = chunk_range(shape.k, blocks, i);
      loops.pack_b(shape.trans_b, cols, k.end - k.begin, b_at(shape, b, k.begin, col), shape.b_pitch(),
                   packed + packed_offset(loops, shape, k, col));
    }
  });
}

void gemm_packed_b(Context& context, const GemmShape& shape, const float* a, const float* packed,
                   const Epilogue<float>& epilogue, float* c) {
  assert(shape.batch <= 1 || shape.b_stride == 0);
  if (shape.batch == 0 || shape.m == 0 || shape.n == 0) return;
  const GemmShape joined = shape.rows_joined();
  const bool wide = !refuses_wide(joined);
  const VerboseCall report("gemm_packed_b", shape, wide ? "gemm_wide" : "gemm_packed");
  (wide ? gemm_wide : one_by_one<gemm_packed>)(context, joined, {a, packed, epilogue, c, true});
}

}  // namespace dnn::cpu
