#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "host_support.h"

using namespace emu_test;

namespace {

constexpr size_t kMiB = size_t{1} << 20;

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Whether a process that runs this ends by it.
template <class F>
bool dies(F run) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
      _exit(0);
    run();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

}  // namespace

TEST_CASE("Device memory begins at odd multiples of 256 bytes, at an address not seen before", "[memory]") {
  std::vector<char*> seen;
  for (size_t bytes : {1, 100, 256, 257, 4000, 4096, 70000, 3840}) {
    auto* const data = device_array<char>(bytes);
    REQUIRE(data != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(data) % 512 == 256);
    for (const char* other : seen) CHECK(data != other);
    seen.push_back(data);
    CHECK(cudaFree(data) == cudaSuccess);
  }
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("Device memory is filled with 0xFF, and pinned memory too", "[memory]") {
  auto* const data = device_array<unsigned char>(5000);
  for (const unsigned char byte : to_host(data, 5000)) REQUIRE(byte == 0xFF);
  cudaFree(data);
  unsigned char* pinned = nullptr;
  REQUIRE(cudaHostAlloc(&pinned, 100, cudaHostAllocPortable) == cudaSuccess);
  for (int i = 0; i < 100; ++i) REQUIRE(pinned[i] == 0xFF);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("Nothing is allocated for 0 bytes, and null may be freed", "[memory]") {
  void* data = &data;
  CHECK(cudaMalloc(&data, 0) == cudaSuccess);
  CHECK(data == nullptr);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaFreeHost(nullptr) == cudaSuccess);
  CHECK(cudaMalloc(static_cast<void**>(nullptr), 8) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("A device has as much memory as it is said to have", "[memory]") {
  emu::set_device_memory(kMiB);
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(total == kMiB);
  CHECK(free == kMiB);
  void* data = &data;
  CHECK(cudaMalloc(&data, 2 * kMiB) == cudaErrorMemoryAllocation);
  CHECK(data == nullptr);
  CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&data, kMiB / 2 + 1) == cudaSuccess);
  void* more = nullptr;
  CHECK(cudaMalloc(&more, kMiB / 2) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocAsync(&more, kMiB / 2, nullptr) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&more, SIZE_MAX) == cudaErrorMemoryAllocation);
  cudaMemGetInfo(&free, &total);
  CHECK(free == kMiB / 2 - 512);
  CHECK(cudaSetDevice(1) == cudaSuccess);  // has its own
  CHECK(cudaMalloc(&more, kMiB) == cudaSuccess);
  CHECK(cudaFree(more) == cudaSuccess);
  cudaSetDevice(0);
  CHECK(cudaFree(data) == cudaSuccess);
  cudaMemGetInfo(&free, &total);
  CHECK(free == kMiB);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(emu::fault_count() == 0);
  emu::set_device_memory(size_t{8} << 30);
}

TEST_CASE("Memory that is freed goes back to the system", "[memory]") {
  const size_t before = resident_bytes();
  auto* const data = device_array<char>(256 * kMiB);
  CHECK(resident_bytes() > before + 200 * kMiB);
  cudaFree(data);
  CHECK(resident_bytes() < before + 100 * kMiB);
}

TEST_CASE("Only an allocation is freed, and once", "[memory]") {
  const ExpectFaults expect;
  auto* const data = device_array<char>(100);
  char host = 0;
  CHECK(cudaFree(data + 1) == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 1);
  CHECK(cudaFree(&host) == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 2);
  CHECK(cudaFree(data) == cudaSuccess);
  CHECK(emu::fault_count() == 2);
  emu::clear_faults();
  CHECK(cudaFree(data) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK_THAT(emu::first_fault(), Catch::Contains("cudaFree") && Catch::Contains("freed device memory (100 bytes"));
  CHECK(cudaFreeAsync(data, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(&host) == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 3);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);  // none of them is sticky
}

TEST_CASE("cudaFree waits for the device, cudaFreeHost for all devices", "[memory]") {
  const Streams deferred(true);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  auto* const data = to_device<int>({5});
  auto* const other = device_array<int>(1);
  int* const pinned = pinned_array(1, 0);
  int* const more = pinned_array(1, 0);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(pinned, data, sizeof(int), cudaMemcpyDeviceToHost, stream);
  CHECK(*pinned == -1);
  CHECK(cudaFree(other) == cudaSuccess);
  CHECK(*pinned == 5);
  cudaMemcpyAsync(pinned, data, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaSetDevice(1);
  CHECK(cudaFreeHost(more) == cudaSuccess);
  cudaSetDevice(0);
  CHECK(*pinned == 5);
  cudaFreeHost(pinned);
  cudaFree(data);
  cudaStreamDestroy(stream);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("cudaFreeAsync frees in the order of its stream", "[memory]") {
  const Streams streams(GENERATE(true, false));
  const ExpectFaults expect;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* data = nullptr;
  REQUIRE(cudaMallocAsync(&data, sizeof(int), stream) == cudaSuccess);
  int* const pinned = pinned_array(1, 0);
  cudaMemsetAsync(data, 1, sizeof(int), stream);
  cudaMemcpyAsync(pinned, data, sizeof(int), cudaMemcpyDeviceToHost, stream);
  CHECK(cudaFreeAsync(data, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(*pinned == 0x01010101);
  CHECK(emu::fault_count() == 0);
  CHECK(cudaMemsetAsync(data, 0, sizeof(int), stream) == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 1);
  cudaFreeHost(pinned);
  cudaStreamDestroy(stream);
}

TEST_CASE("What comes after cudaFreeAsync may not use the memory", "[memory]") {
  const Streams deferred(true);
  const ExpectFaults expect;
  auto* const data = device_array<int>(1);
  CHECK(cudaFreeAsync(data, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(data, nullptr) == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 1);
  CHECK(cudaMemsetAsync(data, 0, sizeof(int)) == cudaSuccess);  // freed only when the stream gets there
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(emu::fault_count() == 2);
  CHECK(cudaMemset(data, 0, 1) == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("Memory of cudaMallocAsync can be used from there on in its stream", "[memory]") {
  const bool waits = GENERATE(true, false);
  const ExpectFaults expect;
  int faults = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Streams deferred(true, seed);
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEvent_t allocated;
    cudaEventCreate(&allocated);
    int* data = nullptr;
    REQUIRE(cudaMallocAsync(&data, 4, a) == cudaSuccess);
    cudaEventRecord(allocated, a);
    if (waits) cudaStreamWaitEvent(b, allocated);
    CHECK(cudaMemsetAsync(data, 1, 4, b) == cudaSuccess);
    int value = 0;
    cudaMemcpyAsync(&value, data, 4, cudaMemcpyDeviceToHost, b);
    CHECK((value == 0x01010101 || emu::fault_count() == 1));
    if (emu::fault_count() == 1) {
      CHECK_THAT(emu::first_fault(), Catch::Contains("cudaMallocAsync that runs only later"));
      ++faults;
      emu::clear_faults();
    }
    CHECK(cudaFree(data) == cudaSuccess);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaEventDestroy(allocated);
  }
  if (waits) {
    CHECK(faults == 0);
  } else {
    CHECK(faults > 5);
  }
}

TEST_CASE("The host can't touch device memory", "[memory]") {
  auto* const data = to_device<int>({1, 2, 3});
  CHECK(dies([&] { std::printf("%d", *static_cast<volatile int*>(data)); }));
  CHECK(dies([&] { *static_cast<volatile int*>(data + 2) = 0; }));
  CHECK_FALSE(dies([] {}));
  cudaFree(data);
}

#ifndef __SANITIZE_ADDRESS__
__global__ void write_at(unsigned char* data, long index) { data[index] = 7; }

TEST_CASE("A kernel's write beside an allocation shows when that is freed", "[memory]") {
  const ExpectFaults expect;
  for (const long index : {100L, 101L, -1L, -256L}) {
    if (emu::checked()) break;  // is seen as it happens
    emu::clear_faults();
    auto* const data = device_array<unsigned char>(100);
    CHECK(launch(write_at, 1, 1, 0, nullptr, data, index) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(emu::fault_count() == 0);
    CHECK(cudaFree(data) == cudaErrorIllegalAddress);
    const std::string where = index < 0 ? std::to_string(-index) + " bytes before the 100 bytes"
                                        : std::to_string(index - 100) + " bytes behind the end of the 100 bytes";
    CHECK_THAT(emu::first_fault(), Catch::Contains(where));
  }
}
#endif

TEST_CASE("cudaPointerGetAttributes knows what a pointer is", "[memory]") {
  cudaSetDevice(1);
  auto* const data = device_array<int>(2);
  cudaSetDevice(0);
  int* const pinned = pinned_array(1, 0);
  int host = 0;
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, data + 1) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.device == 1);
  CHECK(attributes.devicePointer == data + 1);
  CHECK(attributes.hostPointer == nullptr);
  CHECK(cudaPointerGetAttributes(&attributes, pinned) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeHost);
  CHECK(attributes.hostPointer == pinned);
  CHECK(cudaPointerGetAttributes(&attributes, &host) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  cudaFreeHost(pinned);
  cudaFree(data);
  CHECK(cudaPointerGetAttributes(&attributes, data) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(emu::fault_count() == 0);
}
