#include <catch2/catch.hpp>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

// Warps by shuffles, the block by shared memory, the blocks by an atomic addition.
__global__ void sum_shuffles(const int* in, int count, int* out) {
  EMU_SHARED(int, parts, [32]);
  int sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    sum += in[i];
  }
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = lane < blockDim.x / 32 ? parts[lane] : 0;
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) atomicAdd(out, sum);
}

// As it was done before shuffles: a tree in dynamic shared memory, the last warp by itself.
__global__ void sum_tree(const int* in, int count, int* out) {
  EMU_DYNAMIC_SHARED(int, sums);
  const unsigned me = threadIdx.x;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + me);
  sums[me] = i < count ? in[i] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (me < half) sums[me] += sums[me + half];
    __syncthreads();
  }
  if (me < 32) {
    for (unsigned half = 32; half > 0; half /= 2) {
      const int other = sums[me + half];
      __syncwarp();
      sums[me] += other;
      __syncwarp();
    }
  }
  if (me == 0) atomicAdd(out, sums[0]);
}

// The block that comes last adds up what all have left.
__global__ void sum_last_block(const int* in, int count, int* parts, unsigned* arrived, int* out) {
  EMU_SHARED(bool, is_last);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int sum = __reduce_add_sync(~0u, i < count ? in[i] : 0);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  int total = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) total += parts[k];
  total = __reduce_add_sync(~0u, total);
  if (threadIdx.x == 0) *out = total;
}

}  // namespace

TEST_CASE("textbook: sums") {
  const int count = GENERATE(1, 1000, 4096);
  std::vector<int> in;
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += in.emplace_back(i * 7 % 23 - 5);
  int* const device_in = to_device(in);
  int* const out = to_device(std::vector<int>{0});
  launch(sum_shuffles, 3, 128, 0, nullptr, device_in, count, out);
  CHECK(to_host(out, 1)[0] == sum);
  cudaMemset(out, 0, sizeof(int));
  launch(sum_tree, static_cast<unsigned>((count + 127) / 128), 128, 128 * sizeof(int), nullptr, device_in, count, out);
  CHECK(to_host(out, 1)[0] == sum);
  cudaMemset(out, 0, sizeof(int));
  const auto blocks = static_cast<unsigned>((count + 31) / 32);
  int* const parts = device_array<int>(blocks);
  unsigned* const arrived = to_device(std::vector<unsigned>{0});
  launch(sum_last_block, blocks, 32, 0, nullptr, device_in, count, parts, arrived, out);
  CHECK(to_host(out, 1)[0] == sum);
  CHECK(fault_count() == 0);
  for (int* const each : {device_in, out, parts}) cudaFree(each);
  cudaFree(arrived);
}
