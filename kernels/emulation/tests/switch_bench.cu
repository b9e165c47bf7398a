// What a switch between threads of a block costs, and what a launch does.
#include <emulation/cuda.h>

#include <chrono>
#include <cstdio>

namespace {

__global__ void barriers(int count) {
  for (int i = 0; i < count; ++i) __syncthreads();
}

__global__ void shuffles(int count, float* out) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < count; ++i) value += __shfl_xor_sync(~0u, value, 1);
  out[threadIdx.x] = value;
}

__global__ void empty() {}

template <class F>
double nanoseconds(F run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  cudaDeviceSynchronize();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  constexpr int kSwitches = 4000000;
  float* out;
  cudaMalloc(&out, 1024 * sizeof(float));
  for (const int threads : {32, 256, 1024}) {
    const double empty_time = nanoseconds([&] { launch(barriers, 1, threads, 0, nullptr, 4); });
    const uint64_t before = switch_count();
    const double time = nanoseconds([&] { launch(barriers, 1, threads, 0, nullptr, kSwitches / threads); });
    std::printf("barrier, block of %4d: %6.1f ns a switch (a launch with 4: %.1f us)\n", threads,
                time / static_cast<double>(switch_count() - before), empty_time / 1e3);
  }
  for (const int threads : {32, 256}) {
    const double time = nanoseconds([&] { launch(shuffles, 1, threads, 0, nullptr, kSwitches / threads, out); });
    std::printf("shuffle, block of %4d: %6.1f ns a lane\n", threads, time / kSwitches);
  }
  const auto many = [](int count, dim3 grid, dim3 block) {
    return nanoseconds([=] {
      for (int i = 0; i < count; ++i) launch(empty, grid, block, 0, nullptr);
    });
  };
  many(10, 1, 1);
  std::printf("launch of 1 thread:     %6.1f ns\n", many(20000, 1, 1) / 20000);
  std::printf("empty block:            %6.1f ns\n", many(1, 1000000, 1) / 1e6);
  std::printf("empty thread:           %6.2f ns\n", many(1, 40000, 256) / (40000.0 * 256));
  if (fault_count() > 0) std::printf("%s\n", first_fault().c_str());
  return fault_count() > 0;
}
