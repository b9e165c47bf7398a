#pragma once
#include <emulation/cuda.h>

#include <vector>

// What the tests of the runtime share.
namespace emu_test {

// Around what provokes faults: they are not printed, and none is left behind.
struct ExpectFaults {
  ExpectFaults() {
    emu::clear_faults();
    emu::set_print_faults(false);
  }
  ~ExpectFaults() {
    emu::clear_faults();
    emu::set_print_faults(true);
  }
};

// Streams as asked for; deferred again afterwards.
struct Streams {
  explicit Streams(bool deferred, uint64_t seed = 1) { emu::set_deferred(deferred, seed); }
  ~Streams() { emu::set_deferred(true); }
};

template <class T>
T* device_array(size_t count) {
  T* data = nullptr;
  return cudaMalloc(&data, count * sizeof(T)) == cudaSuccess ? data : nullptr;
}

template <class T>
T* to_device(const std::vector<T>& host) {
  T* const data = device_array<T>(host.size());
  cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return data;
}

template <class T>
std::vector<T> to_host(const T* data, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}

// Filled with one value.
template <class T>
T* pinned_array(size_t count, T value) {
  T* data = nullptr;
  if (cudaMallocHost(&data, count * sizeof(T)) != cudaSuccess) return nullptr;
  for (size_t i = 0; i < count; ++i) data[i] = value;
  return data;
}

}  // namespace emu_test
