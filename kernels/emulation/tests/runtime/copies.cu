#include <catch2/catch.hpp>
#include <numeric>

#include "host_support.h"

using namespace emu_test;

namespace {

constexpr int kPoison = -1;  // bytes 0xFF

std::vector<int> counted(size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// A copy that must be refused, with one fault whose text contains `words`.
void check_refused(cudaError_t error, const std::string& words) {
  CHECK(error == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(emu::fault_count() == 1);
  CHECK_THAT(emu::first_fault(), Catch::Contains(words));
  emu::clear_faults();
}

__constant__ int weights[4];

__global__ void weigh(int* values) { values[threadIdx.x] *= weights[threadIdx.x]; }

}  // namespace

TEST_CASE("Copies there and back, from device to device, and fills", "[copy]") {
  const Streams streams(GENERATE(true, false));
  const std::vector<int> values = counted(1000);
  int* const a = to_device(values);
  auto* const b = device_array<int>(1000);
  CHECK(cudaMemcpy(b, a, 4000, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(to_host(b, 1000) == values);
  CHECK(cudaMemset(b + 1, 0, 4 * 998) == cudaSuccess);
  const std::vector<int> filled = to_host(b, 1000);
  CHECK(filled[0] == 1);
  CHECK(std::accumulate(filled.begin() + 1, filled.end() - 1, 0) == 0);
  CHECK(filled[999] == 1000);
  CHECK(cudaMemcpy(b, a + 500, 4, cudaMemcpyDefault) == cudaSuccess);
  int value = 0;
  CHECK(cudaMemcpy(&value, b, 4, cudaMemcpyDefault) == cudaSuccess);
  CHECK(value == 501);
  int other = 0;
  CHECK(cudaMemcpy(&other, &value, 4, cudaMemcpyHostToHost) == cudaSuccess);
  CHECK(other == 501);
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemset(a, 0, 0) == cudaSuccess);
  cudaFree(a);
  cudaFree(b);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("A copy of the wrong kind, or out of range, is refused", "[copy]") {
  const Streams streams(GENERATE(true, false));
  const ExpectFaults expect;
  auto* const data = to_device(counted(10));
  int* const pinned = pinned_array(10, 0);
  std::vector<int> host(10);
  check_refused(cudaMemcpy(host.data(), data, 4, cudaMemcpyHostToDevice), "target: it is host memory");
  check_refused(cudaMemcpy(data, host.data(), 4, cudaMemcpyDeviceToHost), "target: it is device memory");
  check_refused(cudaMemcpy(data, host.data(), 4, cudaMemcpyDeviceToDevice), "source: it is host memory");
  check_refused(cudaMemcpy(host.data(), data, 4, cudaMemcpyHostToHost), "source: it is device memory");
  check_refused(cudaMemcpyAsync(data + 1, host.data(), 40, cudaMemcpyHostToDevice), "outside of the 40 bytes");
  check_refused(cudaMemcpyAsync(host.data(), data - 1, 4, cudaMemcpyDeviceToHost), "no allocation");
  check_refused(cudaMemcpy(pinned + 5, data, 40, cudaMemcpyDeviceToHost), "outside of its pinned memory");
  check_refused(cudaMemcpy(nullptr, data, 4, cudaMemcpyDeviceToHost), "it is null");
  check_refused(cudaMemcpy(data, data + 1, 8, cudaMemcpyDeviceToDevice), "overlap");
  check_refused(cudaMemset(data, 0, 41), "outside of the 40 bytes");
  check_refused(cudaMemset(host.data(), 0, 4), "not in device memory");
  check_refused(cudaMemsetAsync(data + 10, 0, 1), "outside of the 40 bytes");
  CHECK(cudaMemcpy(data, host.data(), 4, static_cast<cudaMemcpyKind>(7)) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpyAsync(data, host.data(), 4, cudaMemcpyHostToDevice, reinterpret_cast<cudaStream_t>(16)) ==
        cudaErrorInvalidResourceHandle);
  CHECK(to_host(data, 10) == counted(10));
  cudaFree(data);
  cudaFreeHost(pinned);
}

TEST_CASE("A pageable source may be changed when the call returns, a pinned one may not", "[copy]") {
  const bool deferred = GENERATE(true, false);
  const Streams streams(deferred);
  auto* const a = device_array<int>(1);
  auto* const b = device_array<int>(1);
  int pageable = 1;
  int* const pinned = pinned_array(1, 1);
  CHECK(cudaMemcpyAsync(a, &pageable, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpyAsync(b, pinned, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  pageable = *pinned = 2;
  CHECK(to_host(a, 1)[0] == 1);
  CHECK(to_host(b, 1)[0] == (deferred ? 2 : 1));
  CHECK(cudaMemcpy(b, pinned, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  *pinned = 3;  // cudaMemcpy has waited
  CHECK(to_host(b, 1)[0] == 2);
  cudaFree(a);
  cudaFree(b);
  cudaFreeHost(pinned);
}

TEST_CASE("A pageable target is complete when the call returns, a pinned one after a wait", "[copy]") {
  const bool deferred = GENERATE(true, false);
  const Streams streams(deferred);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  auto* const data = to_device(counted(2));
  cudaDeviceSynchronize();
  int pageable[2] = {};
  int* const pinned = pinned_array(2, 0);
  CHECK(cudaMemcpyAsync(pageable, data, 8, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(pageable[1] == 2);
  CHECK(cudaMemcpyAsync(pinned, data, 8, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(pinned[1] == (deferred ? kPoison : 2));
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(pinned[1] == 2);
  cudaStreamDestroy(stream);
  cudaFree(data);
  cudaFreeHost(pinned);
}

TEST_CASE("A pinned buffer that comes back in the order of its stream keeps its values until then", "[copy]") {
  const Streams streams(GENERATE(true, false));
  auto* const a = device_array<int>(1);
  auto* const b = to_device<int>({8});
  int* const pinned = pinned_array(1, 7);
  cudaMemcpyAsync(a, pinned, 4, cudaMemcpyHostToDevice);
  cudaMemcpyAsync(pinned, b, 4, cudaMemcpyDeviceToHost);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(*pinned == 8);
  CHECK(to_host(a, 1)[0] == 7);
  cudaFree(a);
  cudaFree(b);
  cudaFreeHost(pinned);
}

TEST_CASE("cudaMemcpy to the device waits for what was put into the null stream before", "[copy]") {
  const Streams deferred(true);
  auto* const data = to_device<int>({1});
  int* const pinned = pinned_array(1, 0);
  cudaMemcpyAsync(pinned, data, 4, cudaMemcpyDeviceToHost);
  CHECK(*pinned == kPoison);
  const int value = 2;
  cudaMemcpy(data, &value, 4, cudaMemcpyHostToDevice);
  CHECK(*pinned == 1);
  cudaFree(data);
  cudaFreeHost(pinned);
}

// As documented: it returns when the source may be changed, and the data may be under way to the device.
TEST_CASE("cudaMemcpy to the device is no wait for a stream that does not wait for the null stream", "[copy]") {
  const bool waits = GENERATE(false, true);
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Streams deferred(true, seed);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    auto* const data = to_device<int>({1});
    if (waits) cudaStreamSynchronize(nullptr);
    int value = 0;
    cudaMemcpyAsync(&value, data, 4, cudaMemcpyDeviceToHost, stream);
    wrong += value != 1;
    cudaFree(data);
    cudaStreamDestroy(stream);
  }
  if (waits) {
    CHECK(wrong == 0);
  } else {
    CHECK(wrong > 10);
  }
}

TEST_CASE("Much that waits runs without a wait", "[copy]") {
  const Streams deferred(true);
  auto* const data = device_array<char>(1);
  auto* const large = device_array<char>(size_t{100} << 20);
  char* const pinned = pinned_array<char>(1, 0);
  cudaMemset(data, 5, 1);
  cudaMemcpyAsync(pinned, data, 1, cudaMemcpyDeviceToHost);
  SECTION("operations") {
    for (int i = 0; i < 1000; ++i) cudaMemsetAsync(data, 0, 1);
    CHECK(*pinned == char(kPoison));
    for (int i = 0; i < 1000; ++i) cudaMemsetAsync(data, 0, 1);
  }
  SECTION("bytes of staged copies") {
    const std::vector<char> host(size_t{100} << 20);
    for (int i = 0; i < 2; ++i) cudaMemcpyAsync(large, host.data(), host.size(), cudaMemcpyHostToDevice);
    CHECK(*pinned == char(kPoison));
    cudaMemcpyAsync(large, host.data(), host.size(), cudaMemcpyHostToDevice);
  }
  CHECK(*pinned == 5);
  cudaFree(data);
  cudaFree(large);
  cudaFreeHost(pinned);
}

TEST_CASE("Rows with a pitch", "[copy]") {
  const Streams streams(GENERATE(true, false));
  const ExpectFaults expect;
  const std::vector<int> values = counted(12);  // 3 rows of 4
  auto* const data = device_array<int>(15);     // 3 rows of 5
  cudaMemset(data, 0, 60);
  CHECK(cudaMemcpy2D(data, 20, values.data() + 1, 16, 8, 3, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(to_host(data, 15) == std::vector<int>{2, 3, 0, 0, 0, 6, 7, 0, 0, 0, 10, 11, 0, 0, 0});
  std::vector<int> back(6);
  CHECK(cudaMemcpy2DAsync(back.data(), 8, data, 20, 8, 3, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back == std::vector<int>{2, 3, 6, 7, 10, 11});
  CHECK(cudaMemcpy2D(data, 4, values.data(), 16, 8, 3, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  CHECK(emu::fault_count() == 0);
  check_refused(cudaMemcpy2D(data, 20, values.data(), 16, 8, 4, cudaMemcpyHostToDevice), "outside of the 60 bytes");
  cudaFree(data);
}

TEST_CASE("Copies between two devices", "[copy]") {
  const Streams streams(GENERATE(true, false));
  const ExpectFaults expect;
  auto* const first = to_device(counted(4));
  cudaSetDevice(1);
  auto* const second = device_array<int>(4);
  CHECK(cudaMemcpyPeer(second + 2, 1, first + 2, 0, 8) == cudaSuccess);  // waits for both devices
  CHECK(cudaMemcpy(second, first, 8, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(to_host(second, 4) == counted(4));
  CHECK(emu::fault_count() == 0);
  check_refused(cudaMemcpyPeer(second, 0, first, 0, 8), "not memory of device 0");
  check_refused(cudaMemcpyPeerAsync(second, 1, first, 1, 8), "not memory of device 1");
  cudaFree(second);
  cudaSetDevice(0);
  cudaFree(first);
}

TEST_CASE("A copy finds its memory freed when it runs", "[copy]") {
  const Streams deferred(true);
  const ExpectFaults expect;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  auto* const data = device_array<int>(4);
  int* const pinned = pinned_array(4, 1);
  cudaFreeAsync(data, stream);
  CHECK(cudaMemcpyAsync(pinned, data, 16, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(emu::fault_count() == 1);
  CHECK_THAT(emu::first_fault(), Catch::Contains("as it runs") && Catch::Contains("freed device memory"));
  CHECK(pinned[3] == kPoison);
  emu::clear_faults();
  cudaFreeHost(pinned);
  cudaStreamDestroy(stream);
}

TEST_CASE("Copies into constant memory", "[copy]") {
  const bool deferred = GENERATE(true, false);
  const Streams streams(deferred);
  const ExpectFaults expect;
  auto* const values = to_device<int>({1, 1, 1, 1});
  int host[4] = {1, 2, 3, 4};
  CHECK(cudaMemcpyToSymbol(weights, host, sizeof host) == cudaSuccess);
  CHECK(launch(weigh, 1, 4, 0, nullptr, values) == cudaSuccess);
  host[0] = 5;
  CHECK(cudaMemcpyToSymbolAsync(weights, host, 4, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpyToSymbolAsync(weights, values, 8, 8, cudaMemcpyDeviceToDevice) == cudaSuccess);
  host[0] = 6;
  CHECK(launch(weigh, 1, 4, 0, nullptr, values) == cudaSuccess);
  CHECK(to_host(values, 4) == std::vector<int>{1, 10, 3, 8});
  CHECK(emu::fault_count() == 0);
  check_refused(cudaMemcpyToSymbol(weights, host, 8, 12), "outside of the variable's 16");
  CHECK(cudaMemcpyToSymbol(weights, values, 4) == cudaErrorInvalidMemcpyDirection);
  cudaFree(values);
}
