#include <catch2/catch.hpp>
#include <cmath>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

// A warp for each row: the largest, then the sum of the powers, both in one pass over the row.
__global__ void softmax(const float* in, float* out, int rows, int columns) {
  const int row = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (row >= rows) return;
  const float* const x = in + row * columns;
  const int lane = static_cast<int>(threadIdx.x);
  float largest = -INFINITY, sum = 0;
  for (int i = lane; i < columns; i += 32) {
    const float more = fmaxf(largest, x[i]);
    sum = sum * __expf(largest - more) + __expf(x[i] - more);
    largest = more;
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other_largest = __shfl_xor_sync(~0u, largest, step);
    const float other_sum = __shfl_xor_sync(~0u, sum, step);
    const float more = fmaxf(largest, other_largest);
    if (more > -INFINITY) sum = sum * __expf(largest - more) + other_sum * __expf(other_largest - more);
    largest = more;
  }
  for (int i = lane; i < columns; i += 32) out[row * columns + i] = __fdividef(__expf(x[i] - largest), sum);
}

}  // namespace

TEST_CASE("textbook: softmax") {
  const int columns = GENERATE(1, 10, 1000);
  constexpr int kRows = 7;
  std::vector<float> in;
  for (int i = 0; i < kRows * columns; ++i) in.push_back(static_cast<float>(i * 97 % 41) / 4 - 5);
  float* const device_in = to_device(in);
  float* const out = device_array<float>(in.size());
  launch(softmax, 2, dim3(32, 4), 0, nullptr, device_in, out, kRows, columns);
  const auto result = to_host(out, in.size());
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(in[static_cast<size_t>(row * columns + i)]));
    for (int i = 0; i < columns; ++i) {
      const size_t at = static_cast<size_t>(row * columns + i);
      CHECK(result[at] == Approx(std::exp(static_cast<double>(in[at])) / sum).epsilon(1e-5));
    }
  }
  CHECK(fault_count() == 0);
  cudaFree(device_in);
  cudaFree(out);
}
