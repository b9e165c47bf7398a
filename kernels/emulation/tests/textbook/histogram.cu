#include <catch2/catch.hpp>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

// Each block counts for itself in shared memory, then adds what it has.
__global__ void histogram(const unsigned char* in, int count, unsigned* counts) {
  EMU_SHARED(unsigned, own, [256]);
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    atomicAdd(&own[in[i]], 1);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    if (own[i] > 0) atomicAdd(&counts[i], own[i]);
  }
}

// The largest float, by comparing and swapping its bits.
__global__ void largest(const float* in, int count, unsigned* bits) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  unsigned seen = atomicOr(bits, 0);
  while (__uint_as_float(seen) < in[i]) {
    const unsigned before = atomicCAS(bits, seen, __float_as_uint(in[i]));
    if (before == seen) break;
    seen = before;
  }
}

}  // namespace

TEST_CASE("textbook: a histogram by atomic additions") {
  std::vector<unsigned char> in;
  std::vector<unsigned> counts(256);
  for (int i = 0; i < 5000; ++i) ++counts[in.emplace_back(static_cast<unsigned char>(i * i % 251))];
  unsigned char* const device_in = to_device(in);
  unsigned* const device_counts = to_device(std::vector<unsigned>(256));
  launch(histogram, 4, 96, 0, nullptr, device_in, 5000, device_counts);
  CHECK(to_host(device_counts, 256) == counts);
  CHECK(fault_count() == 0);
  cudaFree(device_in);
  cudaFree(device_counts);
}

TEST_CASE("textbook: compare and swap") {
  std::vector<float> in;
  for (int i = 0; i < 300; ++i) in.push_back(static_cast<float>(i * 37 % 300) / 7);
  float* const device_in = to_device(in);
  unsigned* const bits = to_device(std::vector<unsigned>{0});
  launch(largest, 3, 128, 0, nullptr, device_in, 300, bits);
  CHECK(__uint_as_float(to_host(bits, 1)[0]) == 299.0f / 7);
  CHECK(fault_count() == 0);
  cudaFree(device_in);
  cudaFree(bits);
}
