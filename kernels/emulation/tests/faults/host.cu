#include <cublas_v2.h>

#include "faults.h"

namespace {

constexpr size_t kBytes = kThreads * sizeof(float);

__global__ void set(float* y, float value) { y[threadIdx.x] = value; }

__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void uses_dynamic(float* y) {
  EMU_DYNAMIC_SHARED(float, s);
  s[threadIdx.x] = 1;
  y[threadIdx.x] = s[threadIdx.x];
}

struct Pinned {
  float* data = nullptr;
  Pinned() {
    cudaHostAlloc(&data, kBytes, cudaHostAllocDefault);
    for (int i = 0; i < kThreads; ++i) data[i] = 1;
  }
};

}  // namespace

SEEDED_FAULT(block_too_large) {
  run_block_of(2048, set, zeros(kThreads), 1.f);
  return true;
}

SEEDED_FAULT(shared_memory_without_asking) {
  launch(uses_dynamic, dim3(1), dim3(kThreads), size_t{64} << 10, nullptr, zeros(kThreads));
  return true;
}

SEEDED_FAULT(copy_too_long) {
  const std::vector<float> values(2 * kThreads);
  cudaMemcpy(zeros(kThreads), values.data(), 2 * kBytes, cudaMemcpyHostToDevice);
  return true;
}

SEEDED_FAULT(copy_of_wrong_kind) {
  std::vector<float> values(kThreads);
  cudaMemcpy(values.data(), zeros(kThreads), kBytes, cudaMemcpyHostToDevice);
  return true;
}

SEEDED_FAULT(double_free) {
  float* const y = zeros(kThreads);
  cudaFree(y);
  cudaFree(y);
  return true;
}

SEEDED_FAULT(matrix_too_small) {
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, zeros(1024), 32, zeros(1000), 32, &zero, zeros(1024),
              32);
  return true;
}

SEEDED_FAULT(leading_dimension_too_small) {
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 32, 32, 32, &one, zeros(1024), 16, zeros(1024), 32, &zero, zeros(1024),
              32);
  return true;
}

SEEDED_FAULT(stream_of_other_device) {
  cudaSetDevice(1);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaSetDevice(0);
  launch(set, dim3(1), dim3(kThreads), 0, stream, zeros(kThreads), 1.f);
  return true;
}

SEEDED_FAULT(argument_of_other_device) {
  cudaSetDevice(1);
  float* const y = zeros(kThreads);
  cudaSetDevice(0);
  run_block_of(kThreads, set, y, 1.f);
  return true;
}

SEEDED_FAULT(copied_value_read_too_early) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  const Pinned values;
  float* const y = zeros(kThreads);
  launch(set, dim3(1), dim3(kThreads), 0, stream, y, 5.f);
  cudaMemcpyAsync(values.data, y, kBytes, cudaMemcpyDeviceToHost, stream);
  return values.data[0] == 5;
}

SEEDED_FAULT(pinned_memory_changed_too_early) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  const Pinned values;
  float* const y = zeros(kThreads);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(y, values.data, kBytes, cudaMemcpyHostToDevice, stream);
  values.data[0] = 2;
  cudaStreamSynchronize(stream);
  return is_result(y, kThreads, [](int) { return 1; });
}

// In some of the orders in which two streams can run.
SEEDED_FAULT(missing_event) {
  cudaStream_t first = nullptr, second = nullptr;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  bool right = true;
  for (int i = 0; i < 20; ++i) {
    float *const x = zeros(kThreads), *const y = zeros(kThreads);
    cudaDeviceSynchronize();
    launch(set, dim3(1), dim3(kThreads), 0, first, x, 5.f);
    launch(copy, dim3(1), dim3(kThreads), 0, second, static_cast<const float*>(x), y);
    cudaDeviceSynchronize();
    right = right && is_result(y, kThreads, [](int) { return 5; });
  }
  return right;
}
