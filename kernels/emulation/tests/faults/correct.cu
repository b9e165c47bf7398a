#include "faults.h"

// Programs that are right, though close to what is not: no build may see a fault.
namespace {

__global__ void passes_neighbours(float* y) {
  EMU_SHARED(float, s, [kThreads]);
  s[threadIdx.x] = 0;
  for (int i = 0; i < 4; ++i) {
    __syncthreads();
    const float next = s[(threadIdx.x + 1) % kThreads];
    __syncthreads();
    s[threadIdx.x] = next + 1;
  }
  y[threadIdx.x] = s[threadIdx.x];
}

__global__ void writes_neighbouring_bytes(unsigned char* flags, short* numbers) {
  EMU_SHARED(unsigned char, s, [kThreads]);
  s[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  flags[threadIdx.x] = s[threadIdx.x];
  numbers[threadIdx.x] = s[threadIdx.x];
  numbers[threadIdx.x] += 1;
}

// Each half of a warp waits for itself.
__global__ void halves_of_warps(float* y) {
  EMU_SHARED(float, s, [kThreads]);
  const unsigned half = threadIdx.x % 32 < 16 ? 0x0000FFFFu : 0xFFFF0000u;
  s[threadIdx.x] = static_cast<float>(threadIdx.x);
  for (int i = 0; i < 5; ++i) {
    __syncwarp(half);
    const float other = s[threadIdx.x ^ 7];
    __syncwarp(half);
    s[threadIdx.x] = other;
  }
  y[threadIdx.x] = s[threadIdx.x];
}

// What one half knows of the other it may have from a lane that met both.
__global__ void lanes_learn_from_others(float* y) {
  EMU_SHARED(float, s, [1]);
  const unsigned lane = threadIdx.x;
  if (lane == 0) s[0] = 7;
  if (lane < 2) __syncwarp(0x3);
  if (lane == 1 || lane == 2) __syncwarp(0x6);
  if (lane == 2) y[0] = s[0];
}

__global__ void all_read_then_one_writes(float* y) {
  EMU_SHARED(float, s, [2]);
  if (threadIdx.x == 0) s[0] = 1;
  __syncthreads();
  y[threadIdx.x] = s[0];
  __syncthreads();
  if (threadIdx.x == 5) s[0] = 2;
  __syncthreads();
  y[threadIdx.x] += s[0];
}

__global__ void counts(const int* values, int count, int* histogram) {
  EMU_SHARED(int, mine, [16]);
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(count);
       i += gridDim.x * blockDim.x)
    atomicAdd(&mine[values[i] % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&histogram[threadIdx.x], mine[threadIdx.x]);
}

__global__ void last_block_sums(float* parts, unsigned* arrived, float* sum) {
  EMU_SHARED(bool, is_last, [1]);
  EMU_SHARED(float, s, [32]);
  parts[blockIdx.x * 32 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last[0] = atomicAdd(arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last[0]) return;
  float mine = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) mine += parts[i * 32 + threadIdx.x];
  s[threadIdx.x] = mine;
  __syncwarp();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 32; ++i) *sum += s[i];
    *arrived = 0;
  }
}

// With bytes that nothing writes.
struct Record {
  float value;
  char kind;
};
struct LargeRecord {
  char kind;
  double values[2];
};

__global__ void copies_records(const float4* from, float4* to, Record* records) {
  EMU_SHARED(Record, s, [kThreads]);
  EMU_SHARED(LargeRecord, large, [kThreads]);
  EMU_DYNAMIC_SHARED(float4, vectors);
  s[threadIdx.x].kind = 'a';
  s[threadIdx.x].value = static_cast<float>(threadIdx.x);
  large[threadIdx.x].kind = 'b';
  large[threadIdx.x].values[0] = large[threadIdx.x].values[1] = 0;
  vectors[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  records[threadIdx.x] = s[kThreads - 1 - threadIdx.x];
  const LargeRecord copy = large[kThreads - 1 - threadIdx.x];
  float4 v = vectors[kThreads - 1 - threadIdx.x];
  v.x += records[threadIdx.x].value + static_cast<float>(copy.values[1]);
  to[threadIdx.x] = v;
}

__constant__ float kWeights[4] = {1, 2, 3, 4};
constexpr float kOffsets[4] = {4, 3, 2, 1};

__device__ float pick(const float* values, unsigned index) { return values[index]; }

__global__ void reads_constants(float* y) {
  float mine[4];
  for (unsigned i = 0; i < 4; ++i) mine[i] = pick(kWeights, i) + pick(kOffsets, i);
  y[threadIdx.x] = pick(mine, threadIdx.x % 4) + kWeights[threadIdx.x % 4];
}

}  // namespace

SEEDED_FAULT(none_neighbours) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, passes_neighbours, y);
  return is_result(y, kThreads, [](int) { return 4; });
}

SEEDED_FAULT(none_bytes) {
  auto* const bytes = reinterpret_cast<unsigned char*>(zeros(kThreads / 4));
  auto* const numbers = reinterpret_cast<short*>(zeros(kThreads / 2));
  run_block_of(kThreads, writes_neighbouring_bytes, bytes, numbers);
  unsigned char flags[kThreads];
  short sums[kThreads];
  cudaMemcpy(flags, bytes, sizeof flags, cudaMemcpyDeviceToHost);
  cudaMemcpy(sums, numbers, sizeof sums, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < kThreads; ++i) right = right && flags[i] == i && sums[i] == i + 1;
  return right;
}

SEEDED_FAULT(none_halves_of_warps) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, halves_of_warps, y);
  return is_result(y, kThreads, [](int i) { return i ^ 7; });
}

SEEDED_FAULT(none_lanes_learn) {
  float* const y = zeros(1);
  run_block_of(32, lanes_learn_from_others, y);
  return is_result(y, 1, [](int) { return 7; });
}

SEEDED_FAULT(none_readers) {
  float* const y = zeros(kThreads);
  for (int i = 0; i < 2; ++i) run_block_of(kThreads, all_read_then_one_writes, y);
  return is_result(y, kThreads, [](int) { return 3; });
}

SEEDED_FAULT(none_atomics) {
  std::vector<int> values(1000), counted(16);
  for (int i = 0; i < 1000; ++i) values[static_cast<size_t>(i)] = i;
  auto* const device_values = reinterpret_cast<int*>(zeros(1000));
  auto* const histogram = reinterpret_cast<int*>(zeros(16));
  cudaMemcpy(device_values, values.data(), 4000, cudaMemcpyHostToDevice);
  launch(counts, dim3(3), dim3(96), 0, nullptr, device_values, 1000, histogram);
  cudaMemcpy(counted.data(), histogram, 64, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 16; ++i) right = right && counted[static_cast<size_t>(i)] == (i < 8 ? 63 : 62);
  return right;
}

SEEDED_FAULT(none_last_block) {
  float *const parts = zeros(32 * 20), *const sum = zeros(1);
  auto* const arrived = reinterpret_cast<unsigned*>(zeros(1));
  for (int i = 0; i < 2; ++i) launch(last_block_sums, dim3(20), dim3(32), 0, nullptr, parts, arrived, sum);
  return is_result(sum, 1, [](int) { return 2 * 640; });
}

SEEDED_FAULT(none_copies) {
  auto* const from = reinterpret_cast<float4*>(zeros(4 * kThreads));
  float* const to = zeros(4 * kThreads);
  auto* const records = reinterpret_cast<Record*>(zeros(4 * kThreads));
  launch(copies_records, dim3(1), dim3(kThreads), kThreads * sizeof(float4), nullptr, from,
         reinterpret_cast<float4*>(to), records);
  return is_result(to, 4 * kThreads, [](int i) { return i % 4 == 0 ? kThreads - 1 - i / 4 : 0; });
}

SEEDED_FAULT(none_constants) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, reads_constants, y);
  return is_result(y, kThreads, [](int i) { return 5 + i % 4 + 1; });
}
