#include "faults.h"

namespace {

constexpr size_t kBytes = kThreads * sizeof(float);

__global__ void reads_behind_static(float* y) {
  __shared__ float s[kThreads];
  s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x + 1];  // fault: 1
}

__global__ void reads_behind(float* y) {
  EMU_SHARED(float, s, [kThreads]);
  s[threadIdx.x] = 1;
  __syncthreads();
  const float* const data = s;
  y[threadIdx.x] = data[threadIdx.x + 1];  // fault: 2
}

template <class T>
__global__ void reads_behind_in_template(T* y) {
  EMU_SHARED(T, s, [kThreads]);
  s[threadIdx.x] = 1;
  __syncthreads();
  const T* const data = s;
  y[threadIdx.x] = data[threadIdx.x + 1];  // fault: 3
}

__global__ void writes_behind(float* y) {
  EMU_SHARED(float, s, [kThreads]);
  float* const data = s;
  data[threadIdx.x + 1] = 1;  // fault: 4
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}

__global__ void writes_behind_dynamic(float* y) {
  EMU_DYNAMIC_SHARED(float, s);
  s[threadIdx.x + 1] = 1;  // fault: 5
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}

__global__ void reads_far_behind_dynamic(float* y) {
  EMU_DYNAMIC_SHARED(float, s);
  s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x + 2000];  // fault: 6
}

__global__ void reads_unwritten_dynamic(float* y) {
  EMU_DYNAMIC_SHARED(float, s);
  if (threadIdx.x < 200) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];  // fault: 7
}

__global__ void reads_unwritten(float* y) {
  EMU_SHARED(float, s, [kThreads]);
  if (threadIdx.x < 200) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];  // fault: 8
}

__global__ void reads_unwritten_static(float* y) {
  __shared__ float s[kThreads];
  if (threadIdx.x < 200) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];  // fault: 9
}

// The first block writes it, the second finds it as it was on the CPU, but not on the device.
__global__ void reads_other_blocks_static(float* y) {
  __shared__ float s[kThreads];
  if (y[0] == 0) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];  // fault: 10
}

__global__ void touches_other_stack(float* y) {
  EMU_SHARED(float*, pointer, [1]);
  float mine[4] = {1, 2, 3, 4};
  if (threadIdx.x == 0) pointer[0] = mine;
  __syncthreads();
  y[threadIdx.x] = pointer[0][threadIdx.x % 4];  // fault: 11
  __syncthreads();
  y[threadIdx.x] += mine[threadIdx.x % 4];
}

bool ones_up_to_200(const float* y) {
  return is_result(y, kThreads, [](int i) { return i < 200 ? 1 : 0; });
}

}  // namespace

SEEDED_FAULT(static_shared_read_behind) {
  run_block_of(kThreads, reads_behind_static, zeros(kThreads));
  return true;
}

SEEDED_FAULT(shared_read_behind) {
  run_block_of(kThreads, reads_behind, zeros(kThreads));
  return true;
}

SEEDED_FAULT(shared_read_behind_in_template) {
  run_block_of(kThreads, reads_behind_in_template<float>, zeros(kThreads));
  return true;
}

SEEDED_FAULT(shared_write_behind) {
  run_block_of(kThreads, writes_behind, zeros(kThreads));
  return true;
}

SEEDED_FAULT(dynamic_shared_write_behind) {
  launch(writes_behind_dynamic, dim3(1), dim3(kThreads), kBytes, nullptr, zeros(kThreads));
  return true;
}

SEEDED_FAULT(dynamic_shared_read_far_behind) {
  launch(reads_far_behind_dynamic, dim3(1), dim3(kThreads), kBytes, nullptr, zeros(kThreads));
  return true;
}

SEEDED_FAULT(dynamic_shared_unwritten) {
  float* const y = zeros(kThreads);
  launch(reads_unwritten_dynamic, dim3(1), dim3(kThreads), kBytes, nullptr, y);
  return ones_up_to_200(y);
}

SEEDED_FAULT(shared_unwritten) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, reads_unwritten, y);
  return ones_up_to_200(y);
}

SEEDED_FAULT(static_shared_unwritten) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, reads_unwritten_static, y);
  return ones_up_to_200(y);
}

SEEDED_FAULT(static_shared_of_other_block) {
  float* const y = zeros(kThreads);
  for (int i = 0; i < 2; ++i) run_block_of(kThreads, reads_other_blocks_static, y);
  return true;
}

SEEDED_FAULT(local_of_other_thread) {
  run_block_of(kThreads, touches_other_stack, zeros(kThreads));
  return true;
}
