#pragma once
#include <kernels/cuda/unary.cuh>
#include <kernels/cuda/vectors.cuh>

#include <cstdint>

// The pieces of a matrix product that a block computes: loading tiles of the operands into shared memory, the product
// of two tiles in registers, and what is done to a result before it is stored.
namespace dnn::cuda {

// Where a matrix is read: along its rows' numbers (`row` of A, column of B) and along the sum's index, `depth`. One of
// the two is contiguous.
struct GemmOperand {
  const float* data = nullptr;
  int64_t pitch = 0;  // of the other one
  int rows = 0, depth = 0;
};

// One tile of an operand, kRows times kDepth, brought by kBlock threads: from the device's memory into registers, and
// later from there into shared memory as tile[depth][row]. Beyond the matrix it is 0.
//
// The rows of a tile in shared memory are 4 elements longer than needed. Where the matrix lies along its depth, the two
// threads of one row store 4 rows of the tile apart, so 16 banks apart; the 16 rows that a warp brings lie between.
template <int kRows, int kDepth, bool kAlongRows, bool kWide>
class TileLoader {
 public:
  static constexpr int kPitch = kRows + 4, kEach = kRows * kDepth / kBlock;
  static_assert(kEach == 4 && kDepth % 8 == 0);

  // `data` is that of the block's product.
  __device__ TileLoader(const GemmOperand& operand, const float* data, int first_row)
      : pitch_(operand.pitch), rows_(operand.rows), total_depth_(operand.depth) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (kWide && kAlongRows) {
      row_ = thread % (kRows / 4) * 4;
      depth_ = thread / (kRows / 4);
    } else if constexpr (kWide) {
      row_ = thread / 2 % kRows;
      depth_ = (thread / (2 * kRows) * 2 + thread % 2) * 4;
    } else if constexpr (kAlongRows) {
      row_ = thread % kRows;
      depth_ = thread / kRows;
    } else {
      row_ = thread / 8 % kRows;
      depth_ = thread / (8 * kRows) * 8 + thread % 8;
    }
    matrix_row_ = first_row + row_;
    from_ = data + (kAlongRows ? matrix_row_ + depth_ * pitch_ : matrix_row_ * pitch_ + depth_);
  }

  // The tile that begins at depth `first`; tiles are asked for one after the other.
  __device__ void load(int first) {
    if constexpr (kWide) {
      const bool inside = matrix_row_ < rows_ && first + depth_ < total_depth_;
      const float4 four = inside ? load4(from_) : make_float4(0, 0, 0, 0);
      values_[0] = four.x, values_[1] = four.y, values_[2] = four.z, values_[3] = four.w;
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const bool inside = matrix_row_ + row_step(i) < rows_ && first + depth_ + depth_step(i) < total_depth_;
        const int64_t step = kAlongRows ? row_step(i) + depth_step(i) * pitch_ : row_step(i) * pitch_ + depth_step(i);
        values_[i] = inside ? from_[step] : 0.0f;  // emu: rows that begin anywhere
      }
    }
    from_ += kAlongRows ? kDepth * pitch_ : kDepth;
  }

  __device__ void store(float (&tile)[kDepth][kPitch]) const {
    if constexpr (kWide && kAlongRows) {
      store4(&tile[depth_][row_], make_float4(values_[0], values_[1], values_[2], values_[3]));
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        tile[depth_ + (kWide ? i : depth_step(i))][row_ + (kWide ? 0 : row_step(i))] = values_[i];
      }
    }
  }

 private:
  // The i-th of a thread's single elements, from its first.
  static constexpr __device__ int row_step(int i) {
    if constexpr (kAlongRows) return i * kBlock % kRows;
    return i * kBlock / 8 % kRows;
  }
  static constexpr __device__ int depth_step(int i) {
    if constexpr (kAlongRows) return i * kBlock / kRows;
    return i * kBlock / (8 * kRows) * 8;
  }

  const float* from_;
  int64_t pitch_;
  int rows_, total_depth_;
  int row_, depth_, matrix_row_;
  float values_[kEach];
};

// kPieces x kPieces pieces of 4x4 results in a thread's registers. The 8 warps of a block stand 4 x 2, the lanes of a
// warp 4 x 8; lanes that are neighbors share what they read of A, and every second one what it reads of B.
template <int kPieces>
struct GemmAccumulators {
  static constexpr int kRows = 64 * kPieces, kCols = 64 * kPieces;
  float sum[kPieces * kPieces][4][4] = {};

  __device__ GemmAccumulators() {
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    first_row_ = warp / 2 * (kRowStep * kPieces) + (lane / 16 * 2 + lane % 2) * 4;
    first_col_ = warp % 2 * (kColStep * kPieces) + lane / 2 % 8 * 4;
  }

  // Where a piece begins in the block's tile.
  __device__ int row(int piece) const { return first_row_ + piece / kPieces * kRowStep; }
  __device__ int col(int piece) const { return first_col_ + piece % kPieces * kColStep; }

  template <int kDepth, int kPitchA, int kPitchB>
  __device__ void multiply(const float (&a)[kDepth][kPitchA], const float (&b)[kDepth][kPitchB]) {
#pragma unroll
    for (int depth = 0; depth < kDepth; ++depth) {
      float4 left[kPieces], right[kPieces];
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        left[piece] = load4(&a[depth][first_row_ + kRowStep * piece]);
        right[piece] = load4(&b[depth][first_col_ + kColStep * piece]);
      }
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
#pragma unroll
        for (int q = 0; q < kPieces; ++q) {
          add_row(sum[p * kPieces + q][0], left[p].x, right[q]);
          add_row(sum[p * kPieces + q][1], left[p].y, right[q]);
          add_row(sum[p * kPieces + q][2], left[p].z, right[q]);
          add_row(sum[p * kPieces + q][3], left[p].w, right[q]);
        }
      }
    }
  }

 private:
  static constexpr int kRowStep = 16, kColStep = 32;  // from a piece of a thread to its next

  static __device__ void add_row(float (&row)[4], float a, float4 b) {
    row[0] += a * b.x;
    row[1] += a * b.y;
    row[2] += a * b.z;
    row[3] += a * b.w;
  }

  int first_row_, first_col_;
};

// What follows the sum: c = activation(scale * (alpha * sum + beta * c) + bias + residual).
struct GemmEpilogue {
  float alpha = 1, beta = 0;
  const float *scale = nullptr, *bias = nullptr, *residual = nullptr;  // each or null
  UnaryOp activation = UnaryOp::none;
  UnaryFactors factors;

  // Without the activation, but for relu. For one result, or four neighbors.
  __device__ float finish(float sum, int col, int64_t at, const float* c) const {
    const auto load = [=](const float* x, bool of_column) {
      return x[of_column ? col : at];  // emu: rows of c that begin anywhere
    };
    return finish(sum, load, c);
  }
  __device__ float4 finish4(float4 sum, int col, int64_t at, const float* c) const {
    const auto load = [=](const float* x, bool of_column) { return load4(x + (of_column ? col : at)); };
    return finish(sum, load, c);
  }
  __device__ bool second_pass() const { return activation != UnaryOp::none && activation != UnaryOp::relu; }

 private:
  template <class T, class F>
  __device__ T finish(T sum, F&& load, const float* c) const {
    T result = map([this](float x) { return alpha * x; }, sum);
    if (beta != 0) result = map([this](float x, float y) { return x + beta * y; }, result, load(c, false));
    if (scale) result = map([](float x, float y) { return x * y; }, result, load(scale, true));
    if (bias) result = map([](float x, float y) { return x + y; }, result, load(bias, true));
    if (residual) result = map([](float x, float y) { return x + y; }, result, load(residual, false));
    if (activation != UnaryOp::relu) return result;
    return map([](float x) { return unary_value<UnaryOp::relu>({}, x); }, result);
  }
};

}  // namespace dnn::cuda
