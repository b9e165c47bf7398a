#pragma once
#include <string>
#include <vector>

#include <emulation/cuda.h>

// Programs with one fault each. faults_test.cpp says which build must see it, and with which words; a comment
// "fault: <number>" marks the lines that those words name.
struct SeededFault {
  const char* name;
  const char* file;
  bool (*run)();  // whether the result was right, as far as it is looked at
};

inline std::vector<SeededFault>& seeded_faults() {
  static std::vector<SeededFault> all;
  return all;
}

struct SeededFaultEntry {
  explicit SeededFaultEntry(const SeededFault& seeded) { seeded_faults().push_back(seeded); }
};

#define SEEDED_FAULT(name)                                                              \
  static bool run_##name();                                                             \
  static const SeededFaultEntry name##_entry(SeededFault{#name, __FILE__, run_##name}); \
  static bool run_##name()

constexpr int kThreads = 256;

// Device memory of floats, filled with zeros.
inline float* zeros(int count) {
  float* data = nullptr;
  cudaMalloc(&data, static_cast<size_t>(count) * sizeof(float));
  cudaMemset(data, 0, static_cast<size_t>(count) * sizeof(float));
  return data;
}

inline std::vector<float> to_host(const float* data, int count) {
  std::vector<float> values(static_cast<size_t>(count));
  cudaMemcpy(values.data(), data, values.size() * sizeof(float), cudaMemcpyDeviceToHost);
  return values;
}

template <class F>
bool is_result(const float* data, int count, F expected) {
  const std::vector<float> values = to_host(data, count);
  for (int i = 0; i < count; ++i) {
    if (!(values[static_cast<size_t>(i)] == static_cast<float>(expected(i)))) return false;
  }
  return true;
}

template <class... P, class... A>
void run_block_of(int threads, void (*kernel)(P...), A... arguments) {
  launch(kernel, dim3(1), dim3(static_cast<unsigned>(threads)), 0, nullptr, arguments...);
}

// Reads through a pointer, so that no compiler knows the bounds.
__device__ __attribute__((noinline)) inline float read_at(const float* data, int index) { return data[index]; }
__device__ __attribute__((noinline)) inline void write_at(float* data, int index, float value) { data[index] = value; }
