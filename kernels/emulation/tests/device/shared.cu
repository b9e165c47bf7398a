#include <catch2/catch.hpp>
#include <string>

#include "../runtime/host_support.h"

using namespace emu_test;

namespace {

__global__ void read_before_writing(unsigned* out) {
  EMU_SHARED(unsigned, part, [4]);
  EMU_DYNAMIC_SHARED(unsigned, rest);
  out[4 * blockIdx.x] = part[threadIdx.x];
  out[4 * blockIdx.x + 1] = rest[threadIdx.x];
  out[4 * blockIdx.x + 2] = reinterpret_cast<uintptr_t>(rest) % 16 + reinterpret_cast<uintptr_t>(part) % 16;
  part[threadIdx.x] = rest[threadIdx.x] = 5;
  out[4 * blockIdx.x + 3] = part[threadIdx.x] + rest[threadIdx.x];
}

template <int kSize>
__global__ void write_behind(int index) {
  EMU_SHARED(int, small, [kSize]);
  int* const data = small;
  data[index] = 1;
}

[[maybe_unused]] __global__ void write_behind_dynamic(int index) {
  EMU_DYNAMIC_SHARED(int, data);
  data[index] = 1;
}

__global__ void much_shared() {
  EMU_SHARED(char, first, [40 << 10]);
  EMU_SHARED(char, second, [4 << 10]);
  first[0] = second[0] = 1;
}

__global__ void dynamic_only(int* out) {
  EMU_DYNAMIC_SHARED(int, data);
  data[threadIdx.x] = 3;
  out[threadIdx.x] = data[threadIdx.x];
}

}  // namespace

TEST_CASE("shared memory: each block finds all ones") {
  unsigned* const out = device_array<unsigned>(12);
  if (checked()) set_print_faults(false);  // it is what the kernel is about
  launch(read_before_writing, 3, 1, 16, nullptr, out);
  const unsigned one = ~0u;
  CHECK(to_host(out, 12) == std::vector<unsigned>{one, one, 0, 10, one, one, 0, 10, one, one, 0, 10});
  clear_faults();
  set_print_faults(true);
  cudaFree(out);
}

// With AddressSanitizer the program ends there, and the checked build says more than this.
#if !defined(__SANITIZE_ADDRESS__) && !defined(EMU_CHECKED)
TEST_CASE("shared memory: what is written around a variable is a fault") {
  const ExpectFaults expect;
  launch(write_behind<5>, 1, 1, 0, nullptr, 5);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK_THAT(first_fault(),
             Catch::Contains("write_behind<5>, block (0, 0, 0): a thread wrote 0 bytes behind the end of "
                             "small, which has 20 bytes"));
  clear_faults();
  launch(write_behind<6>, 1, 1, 0, nullptr, -1);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK_THAT(first_fault(), Catch::Contains("before small, which has 24 bytes"));
  clear_faults();
  launch(write_behind_dynamic, 1, 1, 40, nullptr, 12);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK_THAT(first_fault(), Catch::Contains("8 bytes behind the end of the dynamic shared memory, which has 40"));
  // And so again, once the zone is whole.
  clear_faults();
  launch(write_behind<5>, 1, 1, 0, nullptr, 4);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(fault_count() == 0);
}
#endif

TEST_CASE("shared memory: 48 KB, and 64 KB for a kernel that asks") {
  const ExpectFaults expect;
  int* const out = device_array<int>(1);
  CHECK(launch(dynamic_only, 1, 1, 48 << 10, nullptr, out) == cudaSuccess);
  CHECK(fault_count() == 0);
  CHECK(launch(dynamic_only, 1, 1, (48 << 10) + 4, nullptr, out) == cudaErrorInvalidValue);
  CHECK_THAT(
      first_fault(),
      Catch::Contains("dynamic_only: the launch is refused: dynamic shared memory is 49156, the limit is 49152"));
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
  clear_faults();
  CHECK(cudaFuncSetAttribute(dynamic_only, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10) == cudaSuccess);
  CHECK(launch(dynamic_only, 1, 1, 64 << 10, nullptr, out) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(fault_count() == 0);
  CHECK(cudaFuncSetAttribute(dynamic_only, cudaFuncAttributeMaxDynamicSharedMemorySize, (64 << 10) + 1) ==
        cudaErrorInvalidValue);
  clear_faults();
  CHECK(launch(much_shared, 1, 1, 4 << 10, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(launch(much_shared, 1, 1, 5 << 10, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorInvalidValue);
  CHECK_THAT(first_fault(), Catch::Contains("45056 bytes of static and 5120 of dynamic shared memory; 49152 are the"));
  clear_faults();
  cudaFree(out);
}
