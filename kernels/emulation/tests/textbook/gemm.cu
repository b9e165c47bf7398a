#include <emulation/instructions.h>
#include <catch2/catch.hpp>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

// A thread for an element, tiles of 16 x 16 in shared memory.
__global__ void gemm_tiles(const float* a, const float* b, float* c, int m, int n, int k) {
  EMU_SHARED(float, a_tile, [16][16]);
  EMU_SHARED(float, b_tile, [16][16]);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * 16 + y, column = static_cast<int>(blockIdx.x) * 16 + x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    a_tile[y][x] = row < m && k0 + x < k ? a[row * k + k0 + x] : 0;
    b_tile[y][x] = column < n && k0 + y < k ? b[(k0 + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// As a library has it: 64 x 64 elements a block, 16 warps' tiles of tensor cores, and while one part of the depth is
// multiplied the next is copied. Sizes are multiples of the tiles'.
constexpr int kBlock = 64, kDepth = 16, kWarps = 4;

__global__ void __launch_bounds__(32 * kWarps)
    gemm_tensor_cores(const float* a, const float* b, float* c, int n, int k) {
  EMU_SHARED(float, a_tile, [2][kBlock][kDepth + 4]);
  EMU_SHARED(float, b_tile, [2][kDepth][kBlock + 8]);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int group = lane / 4, in_group = lane % 4;
  const int row0 = static_cast<int>(blockIdx.y) * kBlock, column0 = static_cast<int>(blockIdx.x) * kBlock;
  const auto fetch = [&](int stage, int k0) {
    for (int i = thread; i < kBlock * kDepth / 4; i += 32 * kWarps) {
      cp_async_16(&a_tile[stage][i / 4][i % 4 * 4], a + (row0 + i / 4) * k + k0 + i % 4 * 4);
      cp_async_16(&b_tile[stage][i / 16][i % 16 * 4], b + (k0 + i / 16) * n + column0 + i % 16 * 4);
    }
    cp_async_commit();
  };
  float sums[8][4] = {};
  fetch(0, 0);
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    const int stage = k0 / kDepth % 2;
    if (k0 + kDepth < k) {
      fetch(1 - stage, k0 + kDepth);
      cp_async_wait<1>();
    } else {
      cp_async_wait<0>();
    }
    __syncthreads();
    for (int i = 0; i < kDepth; i += 8) {
      const int row = warp * 16 + group, depth = i + in_group;
      const unsigned as[4] = {to_tf32(a_tile[stage][row][depth]), to_tf32(a_tile[stage][row + 8][depth]),
                              to_tf32(a_tile[stage][row][depth + 4]), to_tf32(a_tile[stage][row + 8][depth + 4])};
      for (int j = 0; j < 8; ++j) {
        const unsigned bs[2] = {to_tf32(b_tile[stage][depth][j * 8 + group]),
                                to_tf32(b_tile[stage][depth + 4][j * 8 + group])};
        mma_m16n8k8_tf32(sums[j], as, bs, sums[j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; ++j) {
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warp * 16 + group + 8 * half, column = column0 + j * 8 + 2 * in_group;
      *reinterpret_cast<float2*>(&c[row * n + column]) = make_float2(sums[j][2 * half], sums[j][2 * half + 1]);
    }
  }
}

float element(int i) { return static_cast<float>(i * 29 % 33 - 16) / 8; }  // exact in TF32

void check_product(const std::vector<float>& c, int m, int n, int k) {
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += element(row * k + i) * element(i * n + column + 3);
      REQUIRE(c[static_cast<size_t>(row * n + column)] == sum);
    }
  }
}

template <class F>
void run(int m, int n, int k, F start) {
  std::vector<float> a, b;
  for (int i = 0; i < m * k; ++i) a.push_back(element(i));
  for (int i = 0; i < k * n; ++i) b.push_back(element(i + 3));
  float* const device_a = to_device(a);
  float* const device_b = to_device(b);
  float* const c = device_array<float>(static_cast<size_t>(m * n));
  REQUIRE(start(device_a, device_b, c) == cudaSuccess);
  check_product(to_host(c, static_cast<size_t>(m * n)), m, n, k);
  CHECK(fault_count() == 0);
  for (float* const each : {device_a, device_b, c}) cudaFree(each);
}

}  // namespace

TEST_CASE("textbook: a product of matrices by tiles in shared memory") {
  const auto [m, n, k] = GENERATE(std::tuple{1, 1, 1}, std::tuple{16, 32, 16}, std::tuple{40, 23, 50});
  run(m, n, k, [m = m, n = n, k = k](const float* a, const float* b, float* c) {
    const auto tiles = [](int size) { return static_cast<unsigned>((size + 15) / 16); };
    return launch(gemm_tiles, dim3(tiles(n), tiles(m)), dim3(16, 16), 0, nullptr, a, b, c, m, n, k);
  });
}

TEST_CASE("textbook: a product of matrices by tensor cores, fed by copies that run ahead") {
  const int k = GENERATE(16, 80);
  run(128, 64, k, [k](const float* a, const float* b, float* c) {
    return launch(gemm_tensor_cores, dim3(1, 2), 32 * kWarps, 0, nullptr, a, b, c, 64, k);
  });
}
