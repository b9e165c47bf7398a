#include <catch2/catch.hpp>
#include <numeric>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

// Sums of all before and with each element: of a warp by shuffles, then of the warps before.
__global__ void scan_block(const int* in, int* out, int* block_sums, int count) {
  EMU_SHARED(int, warp_sums, [32]);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = i < count ? in[i] : 0;
  for (unsigned step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int of_warps = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
    for (unsigned step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, of_warps, step);
      if (lane >= step) of_warps += other;
    }
    __syncwarp();
    warp_sums[lane] = of_warps;
  }
  __syncthreads();
  if (warp > 0) sum += warp_sums[warp - 1];
  if (i < count) out[i] = sum;
  if (threadIdx.x == blockDim.x - 1) block_sums[blockIdx.x] = sum;
}

__global__ void add_blocks_before(int* out, const int* scanned_sums, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (blockIdx.x > 0 && i < count) out[i] += scanned_sums[blockIdx.x - 1];
}

}  // namespace

TEST_CASE("textbook: running sums") {
  const int count = GENERATE(1, 128, 5000);
  std::vector<int> in(static_cast<size_t>(count)), sums(in.size());
  for (int i = 0; i < count; ++i) in[static_cast<size_t>(i)] = i * 31 % 19 - 4;
  std::partial_sum(in.begin(), in.end(), sums.begin());
  const auto blocks = static_cast<unsigned>((count + 127) / 128);
  int* const device_in = to_device(in);
  int* const out = device_array<int>(in.size());
  int* const block_sums = device_array<int>(blocks);
  int* const scanned = device_array<int>(blocks);
  int* const unused = device_array<int>(1);
  launch(scan_block, blocks, 128, 0, nullptr, device_in, out, block_sums, count);
  launch(scan_block, 1, 128, 0, nullptr, block_sums, scanned, unused, static_cast<int>(blocks));
  launch(add_blocks_before, blocks, 128, 0, nullptr, out, scanned, count);
  CHECK(to_host(out, in.size()) == sums);
  CHECK(fault_count() == 0);
  for (int* const each : {device_in, out, block_sums, scanned, unused}) cudaFree(each);
}
