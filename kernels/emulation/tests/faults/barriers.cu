#include "faults.h"

namespace {

__global__ void half_at_barrier(float* y) {
  if (threadIdx.x < 16) __syncthreads();  // fault: 1
  y[threadIdx.x] = 1;
}

__global__ void two_barriers(float* y) {
  if (threadIdx.x < 16) {
    __syncthreads();  // fault: 2
    y[threadIdx.x] = 1;
  } else {
    __syncthreads();  // fault: 3
    y[threadIdx.x] = 2;
  }
}

__global__ void leaves_before_barrier(float* y, int count) {
  if (static_cast<int>(threadIdx.x) >= count) return;
  __syncthreads();  // fault: 4
  y[threadIdx.x] = 1;
}

__global__ void shuffles_with_lanes_that_left(float* y) {
  if (threadIdx.x >= 30) return;
  y[threadIdx.x] = __shfl_xor_sync(~0u, 1.f, 16);  // fault: 5
}

__global__ void two_operations(float* y) {
  if (threadIdx.x < 16) {
    y[threadIdx.x] = __shfl_sync(~0u, 1.f, 0);  // fault: 6
  } else {
    y[threadIdx.x] = static_cast<float>(__ballot_sync(~0u, 1));  // fault: 7
  }
}

__global__ void mask_without_caller(float* y) {
  y[threadIdx.x] = __shfl_sync(0xFFFFu, 1.f, 0);  // fault: 8
}

}  // namespace

SEEDED_FAULT(divergent_barrier) {
  run_block_of(kThreads, half_at_barrier, zeros(kThreads));
  return true;
}

SEEDED_FAULT(different_barriers) {
  run_block_of(kThreads, two_barriers, zeros(kThreads));
  return true;
}

SEEDED_FAULT(exit_before_barrier) {
  run_block_of(kThreads, leaves_before_barrier, zeros(kThreads), 250);
  return true;
}

SEEDED_FAULT(shuffle_with_lanes_that_left) {
  run_block_of(32, shuffles_with_lanes_that_left, zeros(32));
  return true;
}

SEEDED_FAULT(different_operations_of_warp) {
  run_block_of(32, two_operations, zeros(32));
  return true;
}

SEEDED_FAULT(mask_without_caller) {
  run_block_of(32, mask_without_caller, zeros(32));
  return true;
}
