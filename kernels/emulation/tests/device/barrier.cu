#include <catch2/catch.hpp>
#include <string>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

__global__ void rotate(int* values, int rounds) {
  EMU_SHARED(int, shared, [1024]);
  const unsigned me = threadIdx.x;
  shared[me] = values[me];
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    const int next = shared[(me + 1) % blockDim.x];
    __syncthreads();
    shared[me] = next;
  }
  values[me] = shared[me];
}

__global__ void votes(int* counts, int* all, int* any, unsigned limit) {
  const bool yes = threadIdx.x < limit;
  counts[threadIdx.x] = __syncthreads_count(yes);
  all[threadIdx.x] = __syncthreads_and(yes);
  any[threadIdx.x] = __syncthreads_or(yes);
}

constexpr int kHalf = __LINE__ + 2;
__global__ void half_arrives() {
  if (threadIdx.x < 16) __syncthreads();
}

__global__ void first_leaves() {
  if (threadIdx.x == 0) return;
  __syncthreads();
}

constexpr int kFirst = __LINE__ + 3, kSecond = __LINE__ + 5;
__global__ void two_barriers() {
  if (threadIdx.x < 8) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void barrier_and_warp() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else if (threadIdx.x == 32) {
    __syncwarp();
  }
}

__global__ void nothing() {}

std::string line(int number) { return "barrier.cu:" + std::to_string(number); }

}  // namespace

TEST_CASE("barriers: no thread passes before all have come") {
  const int threads = GENERATE(1, 31, 64, 257, 1024);
  std::vector<int> values(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) values[static_cast<size_t>(i)] = i;
  int* const data = to_device(values);
  REQUIRE(launch(rotate, 1, threads, 0, nullptr, data, 5) == cudaSuccess);
  const auto turned = to_host(data, values.size());
  for (int i = 0; i < threads; ++i) REQUIRE(turned[static_cast<size_t>(i)] == (i + 5) % threads);
  CHECK(fault_count() == 0);
  cudaFree(data);
}

TEST_CASE("barriers: votes of all threads") {
  int* const counts = device_array<int>(100);
  int* const all = device_array<int>(100);
  int* const any = device_array<int>(100);
  const unsigned limit = GENERATE(0u, 1u, 99u, 100u);
  launch(votes, 1, 100, 0, nullptr, counts, all, any, limit);
  CHECK(to_host(counts, 100) == std::vector<int>(100, static_cast<int>(limit)));
  CHECK(to_host(all, 100) == std::vector<int>(100, limit == 100));
  CHECK(to_host(any, 100) == std::vector<int>(100, limit > 0));
  CHECK(fault_count() == 0);
  for (int* const each : {counts, all, any}) cudaFree(each);
}

TEST_CASE("barriers: a divergent one is a fault that names its place") {
  const ExpectFaults expect;
  launch(half_arrives, 2, 32, 0, nullptr);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(fault_count() == 1);
  INFO(first_fault());
  CHECK(first_fault().find("half_arrives, block (") == 0);
  CHECK(first_fault().find("divergent __syncthreads at ") != std::string::npos);
  CHECK(first_fault().find(line(kHalf) + ": 16 of 32 threads arrived, 16 have left the kernel") != std::string::npos);
  // The error stays, and no kernel runs.
  CHECK(launch(nothing, 1, 1, 0, nullptr) == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
}

TEST_CASE("barriers: to leave before one is a fault unless it is allowed") {
  const ExpectFaults expect;
  launch(first_leaves, 1, 64, 0, nullptr);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(first_fault().find("63 of 64 threads arrived, 1 have left") != std::string::npos);
  clear_faults();
  set_exit_before_barrier_fault(false);
  launch(first_leaves, 1, 64, 0, nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(fault_count() == 0);
  set_exit_before_barrier_fault(true);
}

TEST_CASE("barriers: threads at two different ones are a fault") {
  const ExpectFaults expect;
  launch(two_barriers, 1, 32, 0, nullptr);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  INFO(first_fault());
  CHECK(first_fault().find("threads meet at different barriers") != std::string::npos);
  CHECK(first_fault().find(line(kFirst)) != std::string::npos);
  CHECK(first_fault().find(line(kSecond)) != std::string::npos);
}

TEST_CASE("barriers: one that waits for a thread in a warp's operation is a fault") {
  const ExpectFaults expect;
  launch(barrier_and_warp, 1, 64, 0, nullptr);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  INFO(first_fault());
  CHECK(first_fault().find("32 of 64 threads arrived, 31 have left the kernel, 1 wait in an operation of a warp") !=
        std::string::npos);
}

TEST_CASE("threads: after a fault further launches run as ever") {
  {
    const ExpectFaults expect;
    launch(half_arrives, 1, 1024, 0, nullptr);
    cudaDeviceSynchronize();
  }
  int* const data = to_device(std::vector<int>{1, 2, 3});
  launch(rotate, 1, 3, 0, nullptr, data, 1);
  CHECK(to_host(data, 3) == std::vector<int>{2, 3, 1});
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  cudaFree(data);
}
