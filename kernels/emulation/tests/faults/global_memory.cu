#include "faults.h"

namespace {

__global__ void writes_behind(float* y) {
  y[threadIdx.x + 1] = 1;  // fault: 1
}

__global__ void reads_behind(float* y) {
  y[threadIdx.x] = y[threadIdx.x + 2000];  // fault: 2
}

__global__ void writes(float* y) {
  y[threadIdx.x] = 1;  // fault: 3
}

__global__ void reads_misaligned(float* y) {
  const float4 v = *reinterpret_cast<float4*>(y + 1);  // fault: 4
  y[0] = v.x + v.y + v.z + v.w;
}

__global__ void reads_unwritten(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];  // fault: 5
}

struct View {
  float* data;
  int count;
};

__global__ void writes_view(View view) {
  view.data[threadIdx.x] = 1;  // fault: 6
}

__global__ void follows_table(float** table, float* y) {
  y[threadIdx.x] = table[0][threadIdx.x];  // fault: 7
}

static float coefficients[4] = {1, 2, 3, 4};  // as __constant__ declares it

__global__ void writes_constant(float* y) {
  y[threadIdx.x] = coefficients[threadIdx.x % 4];
  coefficients[threadIdx.x % 4] = 5;  // fault: 8
}

}  // namespace

float host_variable[kThreads];

SEEDED_FAULT(global_write_behind) {
  float* const y = zeros(kThreads);
  run_block_of(kThreads, writes_behind, y);
  cudaFree(y);
  return true;
}

SEEDED_FAULT(global_read_behind) {
  run_block_of(kThreads, reads_behind, zeros(kThreads));
  return true;
}

SEEDED_FAULT(use_after_free) {
  float* const y = zeros(kThreads);
  View view{y, kThreads};
  cudaFree(y);
  run_block_of(kThreads, writes_view, view);
  return true;
}

SEEDED_FAULT(argument_after_free) {
  float* const y = zeros(kThreads);
  cudaFree(y);
  run_block_of(kThreads, writes, y);
  return true;
}

SEEDED_FAULT(misaligned_vector) {
  run_block_of(1, reads_misaligned, zeros(kThreads));
  return true;
}

SEEDED_FAULT(global_unwritten) {
  float* x = nullptr;
  cudaMalloc(&x, kThreads * sizeof(float));
  cudaMemset(x, 0, 200 * sizeof(float));
  float* const y = zeros(kThreads);
  run_block_of(kThreads, reads_unwritten, static_cast<const float*>(x), y);
  return is_result(y, kThreads, [](int) { return 0; });
}

SEEDED_FAULT(null_pointer) {
  run_block_of(kThreads, writes_view, View{nullptr, 0});
  return true;
}

SEEDED_FAULT(host_pointer_as_argument) {
  std::vector<float> values(kThreads);
  run_block_of(kThreads, writes, values.data());
  return true;
}

SEEDED_FAULT(host_pointer_in_structure) {
  std::vector<float> values(kThreads);
  run_block_of(kThreads, writes_view, View{values.data(), kThreads});
  cudaDeviceSynchronize();
  return true;
}

SEEDED_FAULT(host_variable_in_structure) {
  run_block_of(kThreads, writes_view, View{host_variable, kThreads});
  return true;
}

SEEDED_FAULT(pointer_in_device_memory) {
  float* const y = zeros(kThreads);
  float** table = nullptr;
  cudaMalloc(&table, sizeof y);
  cudaMemcpy(table, &y, sizeof y, cudaMemcpyHostToDevice);
  run_block_of(kThreads, follows_table, table, y);
  return true;
}

SEEDED_FAULT(memory_of_other_device) {
  cudaSetDevice(1);
  float* const y = zeros(kThreads);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  run_block_of(kThreads, writes_view, View{y, kThreads});
  return true;
}

SEEDED_FAULT(constant_written) {
  run_block_of(kThreads, writes_constant, zeros(kThreads));
  return true;
}

SEEDED_FAULT(device_pointer_on_host) {
  float* const y = zeros(kThreads);
  y[0] = 1;
  return true;
}
