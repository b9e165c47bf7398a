#include <kernels/cuda/kernels.h>
#include <kernels/cuda/divide.cuh>
#include <kernels/cuda/gemm_tile.cuh>

#include <algorithm>

namespace dnn::cuda {

struct GemmProblem {
  GemmOperand a, b;
  int64_t a_stride = 0, b_stride = 0;  // from one product of the batch to the next
  float* c = nullptr;
  int64_t c_pitch = 0, c_stride = 0, batch = 1;
  int m = 0, n = 0, k = 0;
  bool wide_c = false;  // whether four neighbors of c, and of what the epilogue reads, may be moved at once
  GemmEpilogue epilogue;
};

// Matrix product: c[i, j] = activation(scale[j] * (alpha * sum over p of op(a)[i, p] * op(b)[p, j] + beta * c[i, j]) +
// bias[j] + residual[i, j]). A thread computes one element; for products too small to be worth a tile.
template <bool kTransA, bool kTransB>
__global__ void __launch_bounds__(kBlock) gemm_plain_kernel(GemmProblem g, Divider per_product, Divider per_row) {
  const auto number = static_cast<uint32_t>(grid_thread());
  const auto [product, element] = per_product.divide(number);
  const auto [row, col] = per_row.divide(element);
  if (product >= g.batch) return;
  const float* const a = g.a.data + product * g.a_stride + (kTransA ? row : row * g.a.pitch);
  const float* const b = g.b.data + product * g.b_stride + (kTransB ? col * g.b.pitch : col);
  float sum = 0;
  for (int p = 0; p < g.k; ++p) {
    sum += a[kTransA ? p * g.a.pitch : p] * b[kTransB ? p : p * g.b.pitch];  // emu: small matrices, from the caches
  }
  const int64_t at = product * g.c_stride + row * g.c_pitch + col;
  const float result = g.epilogue.finish(sum, static_cast<int>(col), at, g.c);
  g.c[at] = g.epilogue.second_pass() ? activate(g.epilogue.activation, g.epilogue.factors, result) : result;
}

// Tiles of c in an order in which those that run together share what they read: down 8 rows of tiles, then on to the
// right.
struct TilePlace {
  int row, col;
};
__device__ inline TilePlace tile_place(unsigned number, unsigned down, unsigned across) {
  constexpr unsigned kGroup = 8;
  const unsigned group = number / (kGroup * across), in_group = number % (kGroup * across);
  const unsigned left = down - group * kGroup, rows = left < kGroup ? left : kGroup;
  return {static_cast<int>(group * kGroup + in_group % rows), static_cast<int>(in_group / rows)};
}

// The same in tiles of 64 or 128 times as many results, kPieces^2 pieces of 4x4 for a thread. While the tiles in one
// half of shared memory are multiplied, the next ones are on their way to registers; they are stored into the other
// half, so there is one barrier for each step of kDepth. Every element is summed in the order of p.
template <int kPieces, int kDepth, bool kTransA, bool kTransB, bool kWide>
__global__ void __launch_bounds__(kBlock, 2) gemm_tiles_kernel(GemmProblem g, unsigned down, unsigned across) {
  using Accumulators = GemmAccumulators<kPieces>;
  using LoaderA = TileLoader<Accumulators::kRows, kDepth, kTransA, kWide>;
  using LoaderB = TileLoader<Accumulators::kCols, kDepth, !kTransB, kWide>;
  EMU_SHARED(float, a_tile, [2][kDepth][LoaderA::kPitch]);
  EMU_SHARED(float, b_tile, [2][kDepth][LoaderB::kPitch]);
  const int64_t product = blockIdx.y + int64_t{gridDim.y} * blockIdx.z;
  if (product >= g.batch) return;
  const TilePlace tile = tile_place(blockIdx.x, down, across);
  const int first_row = tile.row * Accumulators::kRows, first_col = tile.col * Accumulators::kCols;

  Accumulators accumulators;
  LoaderA a(g.a, g.a.data + product * g.a_stride, first_row);
  LoaderB b(g.b, g.b.data + product * g.b_stride, first_col);
  a.load(0);
  b.load(0);
  a.store(a_tile[0]);
  b.store(b_tile[0]);
  __syncthreads();
  for (int done = 0, half = 0; done < g.k; done += kDepth, half ^= 1) {
    const bool more = done + kDepth < g.k;
    if (more) {
      a.load(done + kDepth);
      b.load(done + kDepth);
    }
    accumulators.multiply(a_tile[half], b_tile[half]);
    if (more) {
      a.store(a_tile[half ^ 1]);
      b.store(b_tile[half ^ 1]);
    }
    __syncthreads();
  }

  float* const c = g.c + product * g.c_stride;
  GemmEpilogue epilogue = g.epilogue;
  if (epilogue.residual) epilogue.residual += product * g.c_stride;
#pragma unroll
  for (int piece = 0; piece < kPieces * kPieces; ++piece) {
    const int col = first_col + accumulators.col(piece);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + accumulators.row(piece) + i;
      if (row >= g.m || col >= g.n) continue;
      const int64_t at = row * g.c_pitch + col;
      const float(&sum)[4] = accumulators.sum[piece][i];
      if (g.wide_c) {
        store4(c + at, epilogue.finish4(make_float4(sum[0], sum[1], sum[2], sum[3]), col, at, c));
        continue;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (col + j >= g.n) continue;
        c[at + j] = epilogue.finish(sum[j], col + j, at + j, c);  // emu: rows of c that begin anywhere
      }
    }
  }
  if (!epilogue.second_pass()) return;
    // The other activations take many registers: each thread reads back what it stored.
#pragma unroll 1
  for (int line = 0; line < 4 * kPieces * kPieces; ++line) {
    const int row = first_row + accumulators.row(line / 4) + line % 4, col = first_col + accumulators.col(line / 4);
    if (row >= g.m || col >= g.n) continue;
    float* const at = c + row * g.c_pitch + col;
    if (g.wide_c) {
      store4(at, activate(epilogue.activation, epilogue.factors, load4(at)));
      continue;
    }
#pragma unroll 1
    for (int j = 0; j < 4 && col + j < g.n; ++j) {
      at[j] = activate(epilogue.activation, epilogue.factors, at[j]);  // emu: rows of c that begin anywhere
    }
  }
}

namespace {

// Whether fours along the contiguous dimension, of that size, may be loaded or stored.
bool in_fours(const float* data, int contiguous, int64_t pitch, int64_t stride) {
  return aligned(data) && contiguous % 4 == 0 && pitch % 4 == 0 && stride % 4 == 0;
}

template <int kPieces, int kDepth, bool kTransA, bool kTransB, bool kWide>
void launch_tiles(const Context& context, const GemmProblem& g) {
  constexpr int kSide = 64 * kPieces;
  constexpr int64_t kMostAcross = 32768;  // of a grid's second and third dimension
  const auto down = static_cast<unsigned>((int64_t{g.m} + kSide - 1) / kSide);
  const auto across = static_cast<unsigned>((int64_t{g.n} + kSide - 1) / kSide);
  const int64_t layers = (g.batch + kMostAcross - 1) / kMostAcross;
  const dim3 grid(down * across, static_cast<unsigned>(std::min(g.batch, kMostAcross)), static_cast<unsigned>(layers));
  launch(context, "gemm", gemm_tiles_kernel<kPieces, kDepth, kTransA, kTransB, kWide>, grid, kBlock, 0, g, down,
         across);
}

template <bool kTransA, bool kTransB>
void run(const Context& context, const GemmProblem& g) {
  constexpr int64_t kSmall = 1 << 15;  // multiplications: about what one block does in passing
  const int64_t results = g.batch * g.m * g.n;
  if (results <= kSmall && results * g.k <= kSmall) {
    return launch(context, "gemm", gemm_plain_kernel<kTransA, kTransB>, blocks_for(results), kBlock, 0, g,
                  Divider(int64_t{g.m} * g.n), Divider(g.n));
  }
  const bool wide = in_fours(g.a.data, kTransA ? g.m : g.k, g.a.pitch, g.a_stride) &&
                    in_fours(g.b.data, kTransB ? g.k : g.n, g.b.pitch, g.b_stride);
  // Large tiles need fewer loads for each product, where there are enough of them for all multiprocessors.
  constexpr int64_t kEnoughTiles = 96;
  const int64_t large = g.batch * ((int64_t{g.m} + 127) / 128) * ((int64_t{g.n} + 127) / 128);
  if (!wide) return launch_tiles<1, 16, kTransA, kTransB, false>(context, g);
  if (g.m > 64 && g.n > 64 && large >= kEnoughTiles) return launch_tiles<2, 8, kTransA, kTransB, true>(context, g);
  launch_tiles<1, 16, kTransA, kTransB, true>(context, g);
}

}  // namespace

void gemm(Context& context, const GemmShape& shape, const float* a, const float* b, const Epilogue<float>& epilogue,
          float* c) {
  const GemmShape s = shape.rows_joined();
  if (s.m == 0 || s.n == 0 || s.batch == 0) return;
  GemmProblem g;
  g.a = {a, s.a_pitch(), s.m, s.k};
  g.b = {b, s.b_pitch(), s.n, s.k};
  g.a_stride = s.a_stride, g.b_stride = s.b_stride;
  g.c = c, g.c_pitch = s.c_pitch(), g.c_stride = s.c_step(), g.batch = s.batch;
  g.m = s.m, g.n = s.n, g.k = s.k;
  g.wide_c = in_fours(c, s.n, g.c_pitch, g.c_stride) && aligned(epilogue.scale) && aligned(epilogue.bias) &&
             aligned(epilogue.residual);
  g.epilogue = {static_cast<float>(s.alpha),
                static_cast<float>(s.beta),
                epilogue.scale,
                epilogue.bias,
                epilogue.residual,
                epilogue.activation.op,
                UnaryFactors::of_value(epilogue.activation)};
  if (s.trans_a) return s.trans_b ? run<true, true>(context, g) : run<true, false>(context, g);
  s.trans_b ? run<false, true>(context, g) : run<false, false>(context, g);
}

}  // namespace dnn::cuda
