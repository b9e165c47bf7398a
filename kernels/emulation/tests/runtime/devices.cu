#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "host_support.h"

using namespace emu_test;

namespace {

__global__ void add_to_each(int* values, int count, int summand) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] += summand;
}

}  // namespace

TEST_CASE("Devices, one of them current", "[device]") {
  int count = 0, device = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 2);
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  CHECK(cudaSetDevice(1) == cudaSuccess);
  cudaGetDevice(&device);
  CHECK(device == 1);
  std::thread([&] { cudaGetDevice(&device); }).join();
  CHECK(device == 0);
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  cudaGetDevice(&device);
  CHECK(device == 1);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("A machine may have no device", "[device]") {
  emu::set_device_count(0);
  int count = 5;
  void* data = nullptr;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(count == 0);
  CHECK(cudaMalloc(&data, 8) == cudaErrorNoDevice);
  CHECK(cudaSetDevice(0) == cudaErrorNoDevice);
  CHECK(cudaGetLastError() == cudaErrorNoDevice);
  emu::set_device_count(2);
  CHECK(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("A device is like an sm_75", "[device]") {
  cudaDeviceProp properties;
  REQUIRE(cudaGetDeviceProperties(&properties, 1) == cudaSuccess);
  CHECK(std::string(properties.name) == "CUDA emulation 1");
  CHECK(properties.major * 10 + properties.minor == 75);
  CHECK(properties.totalGlobalMem == size_t{8} << 30);
  CHECK(properties.sharedMemPerBlock == 49152);
  CHECK(properties.sharedMemPerBlockOptin == 65536);
  CHECK(properties.maxThreadsPerBlock == 1024);
  CHECK(properties.maxThreadsPerMultiProcessor == 1024);
  CHECK(properties.maxThreadsDim[2] == 64);
  CHECK(properties.maxGridSize[0] == 2147483647);
  CHECK(properties.maxGridSize[1] == 65535);
  CHECK(properties.warpSize == 32);
  CHECK(properties.multiProcessorCount == 40);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess);
  CHECK(value == 65536);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
  CHECK(value == 7);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0) == cudaErrorInvalidValue);
  CHECK(cudaGetDeviceProperties(&properties, 2) == cudaErrorInvalidDevice);
  CHECK(cudaDriverGetVersion(&value) == cudaSuccess);
  CHECK(value == 13000);
  cudaGetLastError();
}

TEST_CASE("Errors have CUDA's codes, names and texts", "[device]") {
  CHECK(cudaErrorMemoryAllocation == 2);
  CHECK(cudaErrorIllegalAddress == 700);
  CHECK(cudaErrorLaunchFailure == 719);
  CHECK(std::string(cudaGetErrorName(cudaErrorInvalidConfiguration)) == "cudaErrorInvalidConfiguration");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) == "invalid configuration argument");
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))) == "unrecognized error code");
}

TEST_CASE("The last error is told once, and is the host thread's own", "[device]") {
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  int value = 0;
  CHECK(cudaGetDevice(&value) == cudaSuccess);
  cudaError_t of_other = cudaErrorNotReady;
  std::thread([&] { of_other = cudaPeekAtLastError(); }).join();
  CHECK(of_other == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("A fault on the device stays until the device is reset", "[device]") {
  const bool deferred = GENERATE(true, false);
  const Streams streams(deferred);
  const ExpectFaults expect;
  auto* const data = to_device<int>({1, 2, 3, 4});
  int* const pinned = pinned_array(4, 0);
  std::vector<int> host(4, 9);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamSynchronize(nullptr);
  // Memory that is freed before the stream gets to its second fill.
  int* gone = nullptr;
  cudaMallocAsync(&gone, 4, stream);
  cudaEvent_t event;
  cudaEventCreate(&event);
  if (deferred) {
    cudaFreeAsync(gone, stream);
    CHECK(cudaMemsetAsync(gone, 0, 4, stream) == cudaSuccess);
    CHECK(launch(add_to_each, 1, 32, 0, stream, data, 4, 10) == cudaSuccess);
    CHECK(cudaMemcpyAsync(pinned, data, 16, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaEventRecord(event, stream) == cudaSuccess);
    CHECK(cudaEventSynchronize(event) == cudaErrorIllegalAddress);
    CHECK(pinned[0] == -1);  // the copy has not run
  } else {
    CHECK(launch(add_to_each, 1, 32, 0, stream, host.data(), 4, 10) == cudaErrorIllegalAddress);
  }
  CHECK(emu::fault_count() == 1);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaMemcpy(host.data(), data, 16, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
  CHECK(host[0] == 9);
  void* more = nullptr;
  CHECK(cudaMalloc(&more, 4) == cudaErrorIllegalAddress);
  CHECK(launch(add_to_each, 1, 32, 0, nullptr, data, 4, 10) == cudaErrorIllegalAddress);
  CHECK(emu::fault_count() == 1);
  CHECK(cudaFreeHost(pinned) == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  size_t free = 0, total = 1;
  CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == total);
  CHECK(cudaMalloc(&more, 4) == cudaSuccess);
  CHECK(cudaFree(more) == cudaSuccess);
}

TEST_CASE("cudaDeviceReset drops what waits, on its device alone", "[device]") {
  const Streams deferred(true);
  const ExpectFaults expect;
  auto* const first = to_device<int>({1});
  int* const pinned = pinned_array(1, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(pinned, first, 4, cudaMemcpyDeviceToHost, stream);
  cudaSetDevice(1);
  auto* const second = to_device<int>({2});
  cudaSetDevice(0);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*pinned == -1);
  CHECK(emu::fault_count() == 0);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaFree(first) == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 2);
  cudaSetDevice(1);
  CHECK(to_host(second, 1)[0] == 2);
  cudaSetDevice(0);
  CHECK(cudaFree(second) == cudaSuccess);
  cudaFreeHost(pinned);
}

TEST_CASE("Two host threads use two devices at once", "[device]") {
  const Streams streams(GENERATE(true, false));
  constexpr int kCount = 300, kSteps = 60;
  int right[2] = {};
  const auto work = [&](int device) {
    cudaSetDevice(device);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* const pinned = pinned_array(kCount, 0);
    for (int step = 0; step < kSteps; ++step) {
      auto* const values = device_array<int>(kCount);
      cudaMemsetAsync(values, 0, kCount * sizeof(int), stream);
      for (int i = 1; i <= 4; ++i) launch(add_to_each, 3, 128, 0, stream, values, kCount, i * (device + 1) + step);
      cudaMemcpyAsync(pinned, values, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream);
      cudaStreamSynchronize(stream);
      bool good = true;
      for (int i = 0; i < kCount; ++i) good = good && pinned[i] == 10 * (device + 1) + 4 * step;
      right[device] += good;
      cudaFree(values);
    }
    cudaFreeHost(pinned);
    cudaStreamDestroy(stream);
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  CHECK(right[0] == kSteps);
  CHECK(right[1] == kSteps);
  CHECK(emu::fault_count() == 0);
}
