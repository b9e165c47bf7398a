// How long the model takes for kernels of the usual kinds.  emu_speed [divide by]: of the sizes, in slow builds.
#include <emulation/cuda.h>
#include <emulation/instructions.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

__global__ void relu(const float* in, float* out, long count) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = fmaxf(in[i], 0.0f);
}

__global__ void gemm_16(const float* a, const float* b, float* c, int n) {
  EMU_SHARED(float, a_tile, [16][16]);
  EMU_SHARED(float, b_tile, [16][17]);
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    a_tile[y][x] = a[row * n + k0 + x];
    b_tile[y][x] = b[(k0 + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void gemm_64(const float* a, const float* b, float* c, int n) {
  EMU_SHARED(float, a_tile, [16][68]);
  EMU_SHARED(float, b_tile, [16][64]);
  const int thread = threadIdx.x, x = thread % 16, y = thread / 16;
  const int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = thread; i < 1024; i += 256) a_tile[i % 16][i / 16] = a[(row0 + i / 16) * n + k0 + i % 16];
    for (int i = thread; i < 1024; i += 256) b_tile[i / 64][i % 64] = b[(k0 + i / 64) * n + column0 + i % 64];
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      const float4 a4 = *reinterpret_cast<const float4*>(&a_tile[k][4 * y]);
      const float4 b4 = *reinterpret_cast<const float4*>(&b_tile[k][4 * x]);
      const float as[4] = {a4.x, a4.y, a4.z, a4.w}, bs[4] = {b4.x, b4.y, b4.z, b4.w};
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sums[i][j] += as[i] * bs[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) c[(row0 + 4 * y + i) * n + column0 + 4 * x + j] = sums[i][j];
  }
}

__global__ void gemm_tf32(const float* a, const float* b, float* c, int n) {
  const int lane = threadIdx.x, group = lane / 4, in_group = lane % 4;
  const int row = blockIdx.y * 16 + group, column = blockIdx.x * 8;
  float sums[4] = {};
  for (int k = in_group; k < n; k += 8) {
    const unsigned as[4] = {to_tf32(a[row * n + k]), to_tf32(a[(row + 8) * n + k]), to_tf32(a[row * n + k + 4]),
                            to_tf32(a[(row + 8) * n + k + 4])};
    const unsigned bs[2] = {to_tf32(b[k * n + column + group]), to_tf32(b[(k + 4) * n + column + group])};
    mma_m16n8k8_tf32(sums, as, bs, sums);
  }
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * n + column + 2 * in_group + i % 2] = sums[i];
}

template <class F>
__device__ float over_block(float value, float neutral, F combine) {
  EMU_SHARED(float, parts, [32]);
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(~0u, value, step));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : neutral;
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(~0u, value, step));
  __syncthreads();
  return value;
}

__global__ void softmax(const float* in, float* out, int columns) {
  const float* const x = in + blockIdx.x * columns;
  float* const y = out + blockIdx.x * columns;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, x[i]);
  most = over_block(most, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(x[i] - most);
  sum = over_block(sum, 0, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[i] = expf(x[i] - most) / sum;
}

// 3 x 3 with a border of 0, channels and filters 32.
__global__ void conv_3x3(const float* in, const float* weights, float* out, int count, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count * 32 * size * size) return;
  const int column = i % size, row = i / size % size, filter = i / (size * size) % 32, image = i / (size * size * 32);
  float sum = 0;
  for (int channel = 0; channel < 32; ++channel) {
    for (int r = 0; r < 3; ++r) {
      for (int s = 0; s < 3; ++s) {
        const int y = row + r - 1, x = column + s - 1;
        if (y < 0 || y >= size || x < 0 || x >= size) continue;
        sum += in[((image * 32 + channel) * size + y) * size + x] * weights[(filter * 32 + channel) * 9 + 3 * r + s];
      }
    }
  }
  out[i] = sum;
}

float* on_device(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 2654435761u % 1000) / 500 - 1;
  float* data;
  cudaMalloc(&data, count * sizeof(float));
  cudaMemcpy(data, values.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  return data;
}

void measure(const char* name, const std::function<void()>& run) {
  run();
  cudaDeviceSynchronize();
  double best = 1e30;
  const uint64_t before = switch_count();
  constexpr int kTimes = 3;
  for (int i = 0; i < kTimes; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    cudaDeviceSynchronize();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%-28s %8.1f ms %10llu switches\n", name, best,
              static_cast<unsigned long long>((switch_count() - before) / kTimes));
}

}  // namespace

int main(int argc, char** argv) {
  const int divide = argc > 1 ? std::atoi(argv[1]) : 1;
  const size_t count = (size_t{16} << 20) / divide;
  const int n = divide > 1 ? 256 : 512;
  float* const a = on_device(count);
  float* const b = on_device(size_t{1} << 20);
  float* const c = on_device(count);
  measure("ReLU, 16M / divisor", [&] {
    launch(relu, static_cast<unsigned>((count + 255) / 256), 256, 0, nullptr, a, c, static_cast<long>(count));
  });
  measure("GEMM, tiles of 16 x 16",
          [&] { launch(gemm_16, dim3(n / 16, n / 16), dim3(16, 16), 0, nullptr, a, b, c, n); });
  measure("GEMM, 64 x 64 by 4 x 4", [&] { launch(gemm_64, dim3(n / 64, n / 64), 256, 0, nullptr, a, b, c, n); });
  measure("GEMM, mma in TF32", [&] { launch(gemm_tf32, dim3(n / 8, n / 16), 32, 0, nullptr, a, b, c, n); });
  measure("softmax, 1024 x 1000", [&] { launch(softmax, 1024, 256, 0, nullptr, a, c, 1000); });
  measure("conv 3 x 3, 8 x 32 x 28 x 28",
          [&] { launch(conv_3x3, 8 * 32 * 28 * 28 / 128, 128, 0, nullptr, a, b, c, 8, 28); });
  std::printf("matrices of %d, %d faults %s\n", n, fault_count(), first_fault().c_str());
  return fault_count() > 0;
}
