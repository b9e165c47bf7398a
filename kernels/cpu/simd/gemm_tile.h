#pragma once
#include <cstdint>

#include <kernels/cpu/per_isa.h>
#include <kernels/epilogue.h>

// The inner loops of gemm. A block of C is cut into tiles of at most `tile_rows` x `tile_cols` that stay in registers
// while k runs; its rows are split evenly over the tiles (13 rows are 7 and 6), its columns into panels of tile_cols.
namespace dnn::cpu {

// C = alpha * A B + beta * C for a block, then the epilogue where `finish`.
struct GemmBlock {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // element (i, p) at a[i * a_row + p * a_k], or, where a_row is 0, packed by pack_a
  int64_t a_row = 0, a_k = 0;
  const float* b = nullptr;  // packed by pack_b, or, where b_k is not 0, element (p, j) at b[p * b_k + j]
  int64_t b_k = 0;
  const float* b_edge = nullptr;  // with b_k: the last n % tile_cols columns, packed
  float* c = nullptr;
  int64_t c_row = 0;
  float alpha = 1, beta = 0;
  bool finish = false;
  Epilogue<float> epilogue;  // its pointers stand at the block's first element
};

struct GemmLoops {
  int tile_rows, tile_cols;
  int dot_rows, dot_cols;  // the tile of `dot`
  // Where `k_runs` the operand lies with k running along memory (A as stored, B transposed), else across it.
  // pack_a: for each tile of rows, k columns of its height one after the other; m * k + kPackSlack values in all.
  // pack_b: for each panel, k rows of tile_cols, zeros where it leaves n; panels * tile_cols * k values.
  void (*pack_a)(bool k_runs, int64_t m, int64_t k, const float* a, int64_t pitch, float* packed);
  void (*pack_b)(bool k_runs, int64_t n, int64_t k, const float* b, int64_t pitch, float* packed);
  void (*block)(const GemmBlock&);
  // The same where k runs along memory in both operands: element (i, p) of A at a[i * a_row + p], (p, j) of B at
  // b[j * b_k + p]. Nothing is packed; sums run over vectors along k.
  void (*dot)(const GemmBlock&);
  // c = activation(scale * c + bias + residual); the residual lies as c.
  void (*finish)(const Epilogue<float>&, int64_t m, int64_t n, float* c, int64_t c_row);
};

constexpr int64_t kPackSlack = 16;  // pack_a writes whole vectors

extern const PerIsa<GemmLoops> gemm_loops;

}  // namespace dnn::cpu
