#include "faults.h"

namespace {

// s starts as zeros, so that what is read too early has been written.
__device__ void clear(float* s) {
  s[threadIdx.x] = 0;
  __syncthreads();
}

__global__ void misses_barrier_before_read(float* y) {
  EMU_SHARED(float, s, [kThreads]);
  clear(s);
  s[threadIdx.x] = static_cast<float>(threadIdx.x);              // fault: 1
  y[threadIdx.x] = threadIdx.x == 0 ? 0.f : s[threadIdx.x - 1];  // fault: 2
}

__global__ void misses_barrier_before_write(float* y) {
  EMU_SHARED(float, s, [kThreads]);
  for (int i = 0; i < 3; ++i) {
    s[threadIdx.x] = static_cast<float>(static_cast<int>(threadIdx.x) + i);  // fault: 3
    __syncthreads();
    y[threadIdx.x] += s[(threadIdx.x + 1) % kThreads];  // fault: 4
  }
}

// Many read before one writes; the writer has read, too, after all others in forward order.
__global__ void writes_what_all_read(float* y) {
  EMU_SHARED(float, s, [1]);
  if (threadIdx.x == 0) s[0] = 1;
  __syncthreads();
  y[threadIdx.x] = s[0];                      // fault: 5
  if (threadIdx.x == kThreads - 1) s[0] = 2;  // fault: 6
}

__global__ void misses_syncwarp(float* y) {
  EMU_SHARED(float, s, [32]);
  s[threadIdx.x] = 0;
  __syncwarp();
  s[threadIdx.x] = static_cast<float>(threadIdx.x);              // fault: 7
  y[threadIdx.x] = threadIdx.x == 0 ? 0.f : s[threadIdx.x - 1];  // fault: 8
}

// Works where the lanes go on together, but a shuffle orders no memory.
__global__ void takes_shuffle_for_fence(float* y) {
  EMU_SHARED(float, s, [32]);
  s[threadIdx.x] = 0;
  __syncwarp();
  s[threadIdx.x] = static_cast<float>(threadIdx.x);  // fault: 9
  const float none = __shfl_sync(~0u, 0.f, 0);
  y[threadIdx.x] = none + s[threadIdx.x ^ 1];  // fault: 10
}

// The halves of the warp wait for themselves alone.
__global__ void misses_other_half(float* y) {
  EMU_SHARED(float, s, [32]);
  s[threadIdx.x] = 0;
  __syncwarp();
  s[threadIdx.x] = static_cast<float>(threadIdx.x);  // fault: 11
  __syncwarp(threadIdx.x < 16 ? 0x0000FFFFu : 0xFFFF0000u);
  y[threadIdx.x] = s[threadIdx.x ^ 16];  // fault: 12
}

__global__ void adds_without_atomic(float* sum) {
  *sum += 1;  // fault: 13
}

__global__ void sets_and_adds(int* count) {
  if (threadIdx.x == 0) *count = 0;  // fault: 14
  atomicAdd(count, 1);               // fault: 15
}

__global__ void adds_from_each_block(float* sum) {
  if (threadIdx.x == 0) *sum += 1;  // fault: 16
}

// Right only as the blocks run one after the other, the first one first.
__global__ void takes_from_block_before(float* y) {
  if (threadIdx.x == 0) y[blockIdx.x + 1] = y[blockIdx.x] + 1;  // fault: 17
}

__global__ void last_block_without_fence(float* parts, unsigned* arrived, float* sum) {
  parts[blockIdx.x] = 1;  // fault: 18
  if (atomicAdd(arrived, 1u) != gridDim.x - 1) return;
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += parts[i];  // fault: 19
}

__global__ void writes_same_byte(unsigned char* flags) {
  flags[threadIdx.x / 2] = 1;  // fault: 20
}

}  // namespace

SEEDED_FAULT(missing_barrier_before_read) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, misses_barrier_before_read, y);
  return is_result(y, kThreads, [](int i) { return i == 0 ? 0 : i - 1; });
}

SEEDED_FAULT(missing_barrier_before_write) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, misses_barrier_before_write, y);
  return is_result(y, kThreads, [](int i) { return 3 * ((i + 1) % kThreads) + 3; });
}

SEEDED_FAULT(write_of_what_all_read) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, writes_what_all_read, y);
  return is_result(y, kThreads, [](int) { return 1; });
}

SEEDED_FAULT(missing_syncwarp) {
  float* const y = zeros(32);
  run_block_of(32, misses_syncwarp, y);
  return is_result(y, 32, [](int i) { return i == 0 ? 0 : i - 1; });
}

SEEDED_FAULT(shuffle_is_no_fence) {
  float* const y = zeros(32);
  run_block_of(32, takes_shuffle_for_fence, y);
  return is_result(y, 32, [](int i) { return i ^ 1; });
}

SEEDED_FAULT(syncwarp_of_half_the_warp) {
  float* const y = zeros(32);
  run_block_of(32, misses_other_half, y);
  return is_result(y, 32, [](int i) { return i ^ 16; });
}

SEEDED_FAULT(lost_update_in_block) {
  float* const sum = zeros(1);
  run_block_of(kThreads, adds_without_atomic, sum);
  return is_result(sum, 1, [](int) { return kThreads; });
}

SEEDED_FAULT(atomic_and_plain) {
  int* const count = reinterpret_cast<int*>(zeros(1));
  run_block_of(kThreads, sets_and_adds, count);
  int result = 0;
  cudaMemcpy(&result, count, sizeof result, cudaMemcpyDeviceToHost);
  return result == kThreads;
}

SEEDED_FAULT(lost_update_between_blocks) {
  float* const sum = zeros(1);
  launch(adds_from_each_block, dim3(64), dim3(32), 0, nullptr, sum);
  return is_result(sum, 1, [](int) { return 64; });
}

SEEDED_FAULT(order_of_blocks) {
  float* const y = zeros(65);
  launch(takes_from_block_before, dim3(64), dim3(32), 0, nullptr, y);
  return is_result(y, 65, [](int i) { return i; });
}

SEEDED_FAULT(last_block_without_fence) {
  float* const parts = zeros(64);
  float* const sum = zeros(1);
  launch(last_block_without_fence, dim3(64), dim3(1), 0, nullptr, parts, reinterpret_cast<unsigned*>(zeros(1)), sum);
  return is_result(sum, 1, [](int) { return 64; });
}

SEEDED_FAULT(byte_written_twice) {
  run_block_of(kThreads, writes_same_byte, reinterpret_cast<unsigned char*>(zeros(kThreads)));
  return true;
}
