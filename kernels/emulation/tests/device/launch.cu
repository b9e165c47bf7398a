#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <set>
#include <string>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

struct Place {
  uint3 thread, block;
};

__global__ void note_places(Place* places) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  places[block * blockDim.x * blockDim.y * blockDim.z + thread] = {threadIdx, blockIdx};
}

__global__ void note_order(int* next, int* order) {
  const int place = atomicAdd(next, 1);
  order[place] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void nothing() {}
__global__ void take(const int*) {}

struct Table {
  const float* rows[3];
  int count;
};
__global__ void sum_rows(Table table, float* out) {
  float sum = 0;
  for (int i = 0; i < table.count; ++i) sum += table.rows[i][0];
  *out = sum;
}

struct Big {
  char bytes[4097];
};
__global__ void take_big(Big) {}

std::vector<int> order_of(int blocks, int threads) {
  int* const next = to_device(std::vector<int>{0});
  int* const order = device_array<int>(static_cast<size_t>(blocks * threads));
  launch(note_order, blocks, threads, 0, nullptr, next, order);
  auto result = to_host(order, static_cast<size_t>(blocks * threads));
  cudaFree(next);
  cudaFree(order);
  return result;
}

// As the tests run in each order, what one changes is put back.
struct KeepOrder {
  ~KeepOrder() {
    const char* const text = std::getenv("EMU_ORDER");
    const std::string order = text ? text : "forward";
    const Order kind = order == "reverse" ? Order::reverse : order == "random" ? Order::random : Order::forward;
    set_thread_order(kind);
    set_block_order(kind);
  }
};

void check_refused(dim3 grid, dim3 block, cudaError_t error, const std::string& text) {
  clear_faults();
  CHECK(launch(nothing, grid, block, 0, nullptr) == error);
  CHECK(fault_count() == 1);
  CHECK_THAT(first_fault(), Catch::Contains("nothing: the launch is refused: " + text));
  CHECK(cudaGetLastError() == error);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

}  // namespace

TEST_CASE("launches: each thread of each block knows its place") {
  const dim3 grid(3, 2, 4), block(5, 4, 3);
  Place* const places = device_array<Place>(24 * 60);
  REQUIRE(launch(note_places, grid, block, 0, nullptr, places) == cudaSuccess);
  const auto result = to_host(places, 24 * 60);
  size_t i = 0;
  for (unsigned b = 0; b < 24; ++b) {
    for (unsigned t = 0; t < 60; ++t, ++i) {
      REQUIRE(result[i].thread.x == t % 5);
      REQUIRE(result[i].thread.y == t / 5 % 4);
      REQUIRE(result[i].thread.z == t / 20);
      REQUIRE(result[i].block.x == b % 3);
      REQUIRE(result[i].block.y == b / 3 % 2);
      REQUIRE(result[i].block.z == b / 6);
    }
  }
  cudaFree(places);
}

TEST_CASE("launches: orders of threads and blocks") {
  const KeepOrder keep;
  std::vector<int> forward(40), backward(40);
  std::iota(forward.begin(), forward.end(), 0);
  std::iota(backward.rbegin(), backward.rend(), 0);
  set_thread_order(Order::forward);
  set_block_order(Order::forward);
  CHECK(order_of(5, 8) == forward);
  set_thread_order(Order::reverse);
  set_block_order(Order::reverse);
  CHECK(order_of(5, 8) == backward);
  CHECK(order_of(1, 40) == backward);
  CHECK(order_of(40, 1) == backward);
  set_thread_order(Order::random, 3);
  set_block_order(Order::random, 3);
  for (const auto& [blocks, threads] : {std::pair{1, 40}, std::pair{40, 1}, std::pair{5, 8}}) {
    const auto order = order_of(blocks, threads);
    CHECK(order != forward);
    CHECK(std::set<int>(order.begin(), order.end()).size() == 40);
    CHECK(order != order_of(blocks, threads));
  }
  CHECK(order_of(1, 1) == std::vector<int>{0});
}

TEST_CASE("launches: the limits of the device") {
  const ExpectFaults expect;
  constexpr cudaError_t kShape = cudaErrorInvalidConfiguration;
  check_refused(1, 1025, kShape, "blockDim.x is 1025, the limit is 1024");
  check_refused(1, dim3(1, 1025), kShape, "blockDim.y is 1025, the limit is 1024");
  check_refused(1, dim3(1, 1, 65), kShape, "blockDim.z is 65, the limit is 64");
  check_refused(1, dim3(32, 33), kShape, "the threads of a block is 1056, the limit is 1024");
  check_refused(0, 1, kShape, "the number of blocks or threads is 0");
  check_refused(1, dim3(1, 0), kShape, "the number of blocks or threads is 0");
  check_refused(0x80000000u, 1, kShape, "gridDim.x is 2147483648, the limit is 2147483647");
  check_refused(dim3(1, 65536), 1, kShape, "gridDim.y is 65536, the limit is 65535");
  check_refused(dim3(1, 1, 65536), 1, kShape, "gridDim.z is 65536, the limit is 65535");
  clear_faults();
  CHECK(launch(nothing, dim3(1, 65535), 1, 0, nullptr) == cudaSuccess);
  CHECK(launch(nothing, dim3(1, 1, 65535), 1, 0, nullptr) == cudaSuccess);
  CHECK(launch(nothing, 1, dim3(4, 4, 64), 0, nullptr) == cudaSuccess);
  CHECK(launch(take_big, 1, 1, 0, nullptr, Big{}) == cudaErrorInvalidValue);
  CHECK_THAT(first_fault(), Catch::Contains("take_big: the launch is refused: the bytes of arguments is 4097"));
}

TEST_CASE("launches: registers bound the threads of a block") {
  const ExpectFaults expect;
  const std::string path = "registers_" + std::to_string(getpid()) + ".csv";
  // The name that a kernel in an unnamed namespace of this file has.
  std::ofstream(path) << "other,255\n_ZN12_GLOBAL__N_17nothingEv,127\n";
  load_register_counts(path);
  CHECK(launch(nothing, 1, 512, 0, nullptr) == cudaSuccess);
  CHECK(fault_count() == 0);
  CHECK(launch(nothing, 1, 513, 0, nullptr) == cudaErrorLaunchOutOfResources);
  CHECK_THAT(first_fault(), Catch::Contains("the registers of a block is 69632, the limit is 65536"));
  std::ofstream(path) << "_ZN12_GLOBAL__N_17nothingEv,64\n";
  load_register_counts(path);
  CHECK(launch(nothing, 1, 1024, 0, nullptr) == cudaSuccess);
  std::remove(path.c_str());
}

TEST_CASE("launches: pointers in structures are followed, those of the host are a fault") {
  Table table{};
  for (int i = 0; i < 3; ++i) table.rows[i] = to_device(std::vector<float>{static_cast<float>(1 << i)});
  table.count = 3;
  float* const out = device_array<float>(1);
  launch(sum_rows, 1, 1, 0, nullptr, table, out);
  CHECK(to_host(out, 1)[0] == 7);
  const ExpectFaults expect;
  const int on_host = 0;
  launch(take, 1, 1, 0, nullptr, &on_host);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK_THAT(first_fault(), Catch::Contains("take: argument 0 is 0x") && Catch::Contains("not in device memory"));
  clear_faults();
  int* const freed = device_array<int>(4);
  cudaFree(freed);
  launch(take, 1, 1, 0, nullptr, freed);
  CHECK_THAT(first_fault(), Catch::Contains("take: argument 0") && Catch::Contains("memory that was freed"));
  clear_faults();
  CHECK(launch(take, 1, 1, 0, nullptr, nullptr) == cudaSuccess);
  CHECK(fault_count() == 0);
  for (const float* const row : table.rows) cudaFree(const_cast<float*>(row));
  cudaFree(out);
}

TEST_CASE("launches: the runtime's own name for it") {
  int* const next = to_device(std::vector<int>{0});
  int* const order = device_array<int>(6);
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 3;
  CHECK(cudaLaunchKernelEx(&config, note_order, next, order) == cudaSuccess);
  CHECK(to_host(next, 1)[0] == 6);
  cudaFree(next);
  cudaFree(order);
}
