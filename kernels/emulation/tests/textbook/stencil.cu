#include <catch2/catch.hpp>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

constexpr int kTile = 16, kRadius = 2;

__constant__ const float weights[2 * kRadius + 1] = {1, 2, 4, 2, 1};

// A cross of five elements each way. The tile has a border of what the neighbors' threads have.
__global__ void cross(const float* in, float* out, int height, int width) {
  EMU_SHARED(float, tile, [kTile + 2 * kRadius][kTile + 2 * kRadius]);
  const int row0 = static_cast<int>(blockIdx.y) * kTile - kRadius,
            column0 = static_cast<int>(blockIdx.x) * kTile - kRadius;
  constexpr int kSide = kTile + 2 * kRadius;
  for (int i = static_cast<int>(threadIdx.y * kTile + threadIdx.x); i < kSide * kSide; i += kTile * kTile) {
    const int row = row0 + i / kSide, column = column0 + i % kSide;
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    tile[i / kSide][i % kSide] = inside ? in[row * width + column] : 0;
  }
  __syncthreads();
  const int y = static_cast<int>(threadIdx.y) + kRadius, x = static_cast<int>(threadIdx.x) + kRadius;
  const int row = row0 + y, column = column0 + x;
  if (row >= height || column >= width) return;
  float sum = 0;
  for (int d = -kRadius; d <= kRadius; ++d) sum += weights[d + kRadius] * (tile[y + d][x] + tile[y][x + d]);
  out[row * width + column] = sum;
}

}  // namespace

TEST_CASE("textbook: a stencil with a border in shared memory") {
  const auto [height, width] = GENERATE(std::pair{1, 1}, std::pair{16, 16}, std::pair{33, 50});
  std::vector<float> in;
  for (int i = 0; i < height * width; ++i) in.push_back(static_cast<float>(i * 13 % 29));
  float* const device_in = to_device(in);
  float* const out = device_array<float>(in.size());
  const auto tiles = [](int size) { return static_cast<unsigned>((size + kTile - 1) / kTile); };
  launch(cross, dim3(tiles(width), tiles(height)), dim3(kTile, kTile), 0, nullptr, device_in, out, height, width);
  const auto result = to_host(out, in.size());
  const auto at = [&, height = height, width = width](int row, int column) {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? in[static_cast<size_t>(row * width + column)] : 0.0f;
  };
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      float sum = 0;
      for (int d = -kRadius; d <= kRadius; ++d) {
        sum += weights[d + kRadius] * (at(row + d, column) + at(row, column + d));
      }
      REQUIRE(result[static_cast<size_t>(row * width + column)] == sum);
    }
  }
  CHECK(fault_count() == 0);
  cudaFree(device_in);
  cudaFree(out);
}
