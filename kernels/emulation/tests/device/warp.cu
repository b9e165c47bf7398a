#include <catch2/catch.hpp>
#include <string>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

template <class T>
__global__ void shuffles(const T* values, T* out, int width) {
  const int me = static_cast<int>(threadIdx.x);
  const T mine = values[me];
  out[me] = __shfl_sync(~0u, mine, 5, width);
  out[32 + me] = __shfl_xor_sync(~0u, mine, 3, width);
  out[64 + me] = __shfl_down_sync(~0u, mine, 2, width);
  out[96 + me] = __shfl_up_sync(~0u, mine, 2, width);
}

__global__ void votes(unsigned* out) {
  const unsigned me = threadIdx.x;
  unsigned* const mine = out + 10 * me;
  mine[0] = __ballot_sync(~0u, me % 3 == 0);
  mine[1] = static_cast<unsigned>(__any_sync(~0u, me == 7));
  mine[2] = static_cast<unsigned>(__all_sync(~0u, me < 32));
  mine[3] = static_cast<unsigned>(__all_sync(~0u, me != 7));
  mine[4] = __match_any_sync(~0u, me % 4);
  mine[5] = __reduce_add_sync(~0u, me);
  mine[6] = static_cast<unsigned>(__reduce_min_sync(~0u, static_cast<int>(me) - 9));
  mine[7] = __reduce_max_sync(~0u, me * me);
  mine[8] = __reduce_xor_sync(~0u, 1u << me % 8);
  mine[9] = __reduce_and_sync(~0u, me | 64);
}

// The two halves of each warp go their own ways, and each its number of times.
__global__ void halves(int* out) {
  const unsigned half = threadIdx.x % 32 / 16;
  const unsigned mask = half ? 0xFFFF0000u : 0x0000FFFFu;
  int value = static_cast<int>(threadIdx.x);
  for (unsigned i = 0; i < 1 + half; ++i) value += __shfl_xor_sync(mask, value, 1);
  out[threadIdx.x] = value;
}

__global__ void last_warp_of_part(int* out) {
  int sum = 1;
  for (int step = 16; step > 0; step /= 2) {
    const int other = __shfl_down_sync(~0u, sum, static_cast<unsigned>(step));
    if (threadIdx.x % 32 + static_cast<unsigned>(step) < 32 && threadIdx.x + static_cast<unsigned>(step) < blockDim.x) {
      sum += other;
    }
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}

__global__ void of_missing_lane(unsigned* out) { out[threadIdx.x] = __shfl_sync(0xFu, threadIdx.x, 9); }

constexpr int kLeft = __LINE__ + 3;
__global__ void lane_left() {
  if (threadIdx.x == 3) return;
  __syncwarp();
}

__global__ void mask_without_caller() { __syncwarp(0xFFFFFFFEu); }

constexpr int kFirst = __LINE__ + 3, kSecond = __LINE__ + 5;
__global__ void two_operations(float* out) {
  if (threadIdx.x < 4) {
    out[threadIdx.x] = __shfl_sync(~0u, 1.0f, 0);
  } else {
    out[threadIdx.x] = __shfl_xor_sync(~0u, 1.0f, 1);
  }
}

__global__ void two_masks() {
  if (threadIdx.x == 0) {
    __syncwarp(0x3);
  } else if (threadIdx.x < 3) {
    __syncwarp(0x7);
  }
}

std::string line(int number) { return "warp.cu:" + std::to_string(number); }

template <class T>
T value_of(int lane) {
  return static_cast<T>(lane * 1.25 + 100);
}

template <class T>
void check_shuffles(int width) {
  std::vector<T> values;
  for (int i = 0; i < 32; ++i) values.push_back(value_of<T>(i));
  T* const data = to_device(values);
  T* const out = device_array<T>(128);
  launch(shuffles<T>, 1, 32, 0, nullptr, data, out, width);
  const auto result = to_host(out, 128);
  for (int i = 0; i < 32; ++i) {
    const int first = i / width * width;
    const auto at = [&](int row) { return result[static_cast<size_t>(32 * row + i)]; };
    CHECK(at(0) == value_of<T>(first + 5 % width));
    // For xor, a lane of an earlier segment may be read.
    CHECK(at(1) == value_of<T>((i ^ 3) < first + width ? i ^ 3 : i));
    CHECK(at(2) == value_of<T>(i + 2 < first + width ? i + 2 : i));
    CHECK(at(3) == value_of<T>(i - 2 >= first ? i - 2 : i));
  }
  cudaFree(data);
  cudaFree(out);
}

}  // namespace

TEST_CASE("warps: shuffles") {
  const int width = GENERATE(32, 16, 8, 2);
  check_shuffles<int>(width);
  check_shuffles<float>(width);
  check_shuffles<double>(width);
  check_shuffles<long long>(width);
  CHECK(fault_count() == 0);
}

TEST_CASE("warps: votes, matches and reductions") {
  unsigned* const out = device_array<unsigned>(320);
  launch(votes, 1, 32, 0, nullptr, out);
  const auto result = to_host(out, 320);
  for (unsigned me = 0; me < 32; ++me) {
    const unsigned* const mine = &result[10 * me];
    CHECK(mine[0] == 0x49249249u);
    CHECK(mine[1] == 1);
    CHECK(mine[2] == 1);
    CHECK(mine[3] == 0);
    CHECK(mine[4] == 0x11111111u << me % 4);
    CHECK(mine[5] == 496);
    CHECK(static_cast<int>(mine[6]) == -9);
    CHECK(mine[7] == 961);
    CHECK(mine[8] == 0);
    CHECK(mine[9] == 64);
  }
  cudaFree(out);
}

TEST_CASE("warps: parts of a warp meet each for itself") {
  int* const out = device_array<int>(64);
  launch(halves, 1, 64, 0, nullptr, out);
  const auto result = to_host(out, 64);
  for (int i = 0; i < 64; ++i) {
    const int pair = i + (i ^ 1);
    CHECK(result[static_cast<size_t>(i)] == (i % 32 < 16 ? pair : 2 * pair));
  }
  CHECK(fault_count() == 0);
  cudaFree(out);
}

TEST_CASE("warps: lanes that the block does not have are in no one's way") {
  int* const out = device_array<int>(2);
  launch(last_warp_of_part, 1, 40, 0, nullptr, out);
  CHECK(to_host(out, 2) == std::vector<int>{32, 8});
  CHECK(fault_count() == 0);
  cudaFree(out);
}

TEST_CASE("warps: the value of a lane outside the mask is all ones") {
  unsigned* const out = device_array<unsigned>(4);
  launch(of_missing_lane, 1, 4, 0, nullptr, out);
  CHECK(to_host(out, 4) == std::vector<unsigned>(4, ~0u));
  cudaFree(out);
}

TEST_CASE("warps: faults") {
  const ExpectFaults expect;
  const auto text_of = [](auto kernel, auto... arguments) {
    clear_faults();
    launch(kernel, 1, 32, 0, nullptr, arguments...);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return first_fault();
  };
  float* const out = device_array<float>(32);
  CHECK_THAT(text_of(lane_left), Catch::Contains("__syncwarp at ") &&
                                     Catch::Contains(line(kLeft) + " in warp 0 waits for the lanes ffffffff, of which "
                                                                   "00000008 did not come: they have left"));
  CHECK_THAT(text_of(mask_without_caller), Catch::Contains("the mask fffffffe lacks the calling lane 0"));
  CHECK_THAT(text_of(two_operations, out), Catch::Contains("lanes of a warp meet in different operations: __shfl") &&
                                               Catch::Contains(line(kFirst)) && Catch::Contains(line(kSecond)));
  CHECK_THAT(text_of(two_masks), Catch::Contains("other lanes of the warp wait with another mask"));
  cudaFree(out);
}
