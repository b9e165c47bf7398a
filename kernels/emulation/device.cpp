#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "heap.h"
#include "stream.h"

// Devices, each with what an sm_75 has.
namespace emu {
namespace {

constexpr int kVersion = 13000;

int device_count = -1;
thread_local int device_of_thread = 0;

int count_devices() {
  if (device_count < 0) {
    const char* const wish = std::getenv("EMU_DEVICES");
    device_count = wish != nullptr ? std::atoi(wish) : 2;
    if (device_count < 0 || device_count > kMostDevices) device_count = kMostDevices;
  }
  return device_count;
}

bool is_device(int device) { return 0 <= device && device < count_devices(); }

}  // namespace

void set_device_count(int count) {
  const std::lock_guard lock(model_mutex());
  device_count = count < 0 || count > kMostDevices ? kMostDevices : count;
}

int current_device() { return device_of_thread; }

cudaError_t device_error() {
  if (count_devices() == 0) return refuse(cudaErrorNoDevice);
  return sticky_error();
}

cudaError_t cudaGetDeviceCount(int* count) {
  const std::lock_guard lock(model_mutex());
  if (count == nullptr) return refuse(cudaErrorInvalidValue);
  *count = count_devices();
  return *count == 0 ? refuse(cudaErrorNoDevice) : sticky_error();
}

cudaError_t cudaSetDevice(int device) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  if (!is_device(device)) return refuse(cudaErrorInvalidDevice);
  device_of_thread = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  if (device == nullptr) return refuse(cudaErrorInvalidValue);
  *device = device_of_thread;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const std::lock_guard lock(model_mutex());
  if (properties == nullptr) return refuse(cudaErrorInvalidValue);
  if (!is_device(device)) return refuse(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "CUDA emulation %d", device);
  properties->totalGlobalMem = memory_of_device();
  properties->sharedMemPerBlock = size_t{48} << 10;
  properties->sharedMemPerBlockOptin = size_t{64} << 10;
  properties->sharedMemPerMultiprocessor = size_t{64} << 10;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = properties->maxThreadsPerMultiProcessor = 1024;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 0x7FFFFFFF;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->major = 7;
  properties->minor = 5;
  properties->multiProcessorCount = 40;
  properties->l2CacheSize = 4 << 20;
  properties->memoryBusWidth = 256;
  properties->concurrentKernels = 1;
  properties->asyncEngineCount = 2;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const std::lock_guard lock(model_mutex());
  cudaDeviceProp properties;
  if (value == nullptr) return refuse(cudaErrorInvalidValue);
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      break;
    case cudaDevAttrWarpSize:
      *value = properties.warpSize;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      break;
    default:
      return refuse(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  run_all(current_device());
  return sticky_error();
}

cudaError_t cudaDeviceReset() {
  const std::lock_guard lock(model_mutex());
  drop_all(current_device());
  release_all(current_device());
  clear_errors();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return refuse(cudaErrorInvalidValue);
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  if (free == nullptr || total == nullptr) return refuse(cudaErrorInvalidValue);
  *total = memory_of_device();
  *free = *total - std::min(*total, memory_in_use(current_device()));
  return cudaSuccess;
}

}  // namespace emu
