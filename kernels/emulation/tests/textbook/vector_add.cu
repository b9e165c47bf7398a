#include <catch2/catch.hpp>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

__global__ void add(const float* a, const float* b, float* c, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) c[i] = a[i] + b[i];
}

// Four elements a thread; each thread goes on a grid's width further.
__global__ void add_vectors(const float4* a, const float4* b, float4* c, int count) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const float4 x = __ldg(a + i), y = __ldg(b + i);
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

}  // namespace

TEST_CASE("textbook: sum of two vectors") {
  const int count = GENERATE(4, 1000, 4096);
  std::vector<float> a, b, sum;
  for (int i = 0; i < count; ++i) {
    a.push_back(static_cast<float>(i));
    b.push_back(static_cast<float>(i * i % 17));
    sum.push_back(a.back() + b.back());
  }
  float* const device_a = to_device(a);
  float* const device_b = to_device(b);
  float* const c = device_array<float>(a.size());
  launch(add, static_cast<unsigned>((count + 127) / 128), 128, 0, nullptr, device_a, device_b, c, count);
  CHECK(to_host(c, a.size()) == sum);
  cudaMemset(c, 0, a.size() * sizeof(float));
  launch(add_vectors, 2, 64, 0, nullptr, reinterpret_cast<float4*>(device_a), reinterpret_cast<float4*>(device_b),
         reinterpret_cast<float4*>(c), count / 4);
  CHECK(to_host(c, a.size()) == sum);
  CHECK(fault_count() == 0);
  for (float* const each : {device_a, device_b, c}) cudaFree(each);
}
