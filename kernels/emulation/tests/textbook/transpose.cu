#include <catch2/catch.hpp>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

// Through a tile in shared memory, so that rows are read and rows are written. The tile's rows have one element more
// than is used, else the lanes that read a column would all want the same bank.
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  EMU_SHARED(float, tile, [32][33]);
  const int x = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * 32, column0 = static_cast<int>(blockIdx.x) * 32;
  for (int y = static_cast<int>(threadIdx.y); y < 32; y += static_cast<int>(blockDim.y)) {
    if (row0 + y < rows && column0 + x < columns) tile[y][x] = in[(row0 + y) * columns + column0 + x];
  }
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < 32; y += static_cast<int>(blockDim.y)) {
    if (column0 + y < columns && row0 + x < rows) out[(column0 + y) * rows + row0 + x] = tile[x][y];
  }
}

}  // namespace

TEST_CASE("textbook: transpose in shared memory") {
  const auto [rows, columns] = GENERATE(std::pair{1, 1}, std::pair{32, 64}, std::pair{100, 37});
  std::vector<float> in(static_cast<size_t>(rows * columns)), turned(in.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      turned[static_cast<size_t>(c * rows + r)] = in[static_cast<size_t>(r * columns + c)] =
          static_cast<float>(1000 * r + c);
    }
  }
  float* const device_in = to_device(in);
  float* const out = device_array<float>(in.size());
  const auto tiles = [](int size) { return static_cast<unsigned>((size + 31) / 32); };
  launch(transpose, dim3(tiles(columns), tiles(rows)), dim3(32, 8), 0, nullptr, device_in, out, rows, columns);
  CHECK(to_host(out, in.size()) == turned);
  CHECK(fault_count() == 0);
  cudaFree(device_in);
  cudaFree(out);
}
