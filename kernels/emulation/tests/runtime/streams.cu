#include <catch2/catch.hpp>

#include "host_support.h"

using namespace emu_test;

namespace {

constexpr uint64_t kSeeds = 40;

__global__ void add(int* value, int summand) { *value += summand; }
__global__ void multiply(int* value, int factor) { *value *= factor; }

void put_add(cudaStream_t stream, int* value, int summand) { launch(add, 1, 1, 0, stream, value, summand); }
void put_multiply(cudaStream_t stream, int* value, int factor) { launch(multiply, 1, 1, 0, stream, value, factor); }

cudaStream_t new_stream(unsigned flags) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, flags);
  return stream;
}

// Two streams and a number that starts as 1.
struct TwoStreams {
  explicit TwoStreams(unsigned flags = cudaStreamNonBlocking) : a(new_stream(flags)), b(new_stream(flags)) {
    value = to_device<int>({1});
    cudaDeviceSynchronize();
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  ~TwoStreams() {
    cudaFree(value);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaEventDestroy(event);
  }
  int result() const {
    cudaDeviceSynchronize();
    return to_host(value, 1)[0];
  }
  cudaStream_t a, b;
  cudaEvent_t event = nullptr;
  int* value = nullptr;
};

// How often the result is not the expected one, over all seeds.
template <class F>
int count_wrong(int expected, F run) {
  int wrong = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Streams deferred(true, seed);
    wrong += run() != expected;
  }
  return wrong;
}

}  // namespace

TEST_CASE("A stream runs in order, when the host waits for it", "[stream]") {
  const bool deferred = GENERATE(true, false);
  const Streams streams(deferred);
  TwoStreams two;
  int* const pinned = pinned_array(1, 0);
  put_add(two.a, two.value, 2);
  put_multiply(two.a, two.value, 10);
  put_add(two.a, two.value, 1);
  cudaMemcpyAsync(pinned, two.value, sizeof(int), cudaMemcpyDeviceToHost, two.a);
  CHECK(*pinned == (deferred ? -1 : 31));
  CHECK(cudaStreamSynchronize(two.a) == cudaSuccess);
  CHECK(*pinned == 31);
  cudaFreeHost(pinned);
}

TEST_CASE("Streams without an event between them run in either order", "[stream]") {
  const int wrong = count_wrong(20, [] {
    TwoStreams two;
    put_add(two.a, two.value, 1);
    put_multiply(two.b, two.value, 10);
    return two.result();
  });
  CHECK(wrong > 10);
  CHECK(wrong < 30);
}

TEST_CASE("Waiting for the wrong stream is seen", "[stream]") {
  const int work_of_other = GENERATE(0, 20);
  const int wrong = count_wrong(2, [&] {
    TwoStreams two;
    auto* const other = device_array<int>(1);
    int* const pinned = pinned_array(1, 0);
    put_add(two.a, two.value, 1);
    cudaMemcpyAsync(pinned, two.value, sizeof(int), cudaMemcpyDeviceToHost, two.a);
    for (int i = 0; i < work_of_other; ++i) cudaMemsetAsync(other, i, sizeof(int), two.b);
    cudaStreamSynchronize(two.b);
    const int seen = *pinned;
    cudaFreeHost(pinned);
    cudaFree(other);
    return seen;
  });
  if (work_of_other == 0) {
    CHECK(wrong == kSeeds);  // nothing that waits in b makes a run
  } else {
    CHECK(wrong > 10);
  }
}

TEST_CASE("An event orders two streams", "[stream]") {
  CHECK(count_wrong(20, [] {
          TwoStreams two;
          put_add(two.a, two.value, 1);
          cudaEventRecord(two.event, two.a);
          cudaStreamWaitEvent(two.b, two.event);
          put_multiply(two.b, two.value, 10);
          return two.result();
        }) == 0);
  // Recorded before what it should follow.
  CHECK(count_wrong(20, [] {
          TwoStreams two;
          cudaEventRecord(two.event, two.a);
          put_add(two.a, two.value, 1);
          cudaStreamWaitEvent(two.b, two.event);
          put_multiply(two.b, two.value, 10);
          return two.result();
        }) > 10);
}

TEST_CASE("An event that is recorded again does not move the waits before", "[stream]") {
  CHECK(count_wrong(225, [] {
          TwoStreams two;
          cudaEvent_t back;
          cudaEventCreate(&back);
          put_add(two.a, two.value, 1);
          cudaEventRecord(two.event, two.a);
          cudaStreamWaitEvent(two.b, two.event);
          put_multiply(two.b, two.value, 10);
          cudaEventRecord(back, two.b);
          cudaStreamWaitEvent(two.a, back);
          put_add(two.a, two.value, 5);
          cudaEventRecord(two.event, two.a);  // b waits for the first recording: else both would wait for ever
          cudaStreamWaitEvent(two.b, two.event);
          put_multiply(two.b, two.value, 9);
          cudaEventDestroy(back);
          return two.result();
        }) == 0);
}

TEST_CASE("An event that was never recorded holds nothing up", "[stream]") {
  const Streams streams(GENERATE(true, false));
  TwoStreams two;
  CHECK(cudaStreamWaitEvent(two.a, two.event) == cudaSuccess);
  CHECK(cudaEventQuery(two.event) == cudaSuccess);
  CHECK(cudaEventSynchronize(two.event) == cudaSuccess);
  put_add(two.a, two.value, 3);
  CHECK(two.result() == 4);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("The null stream waits for blocking streams, and they for it", "[stream]") {
  CHECK(count_wrong(-1990, [] {
          TwoStreams two(cudaStreamDefault);
          put_add(two.a, two.value, 1);
          put_multiply(nullptr, two.value, 100);
          put_add(two.b, two.value, -1);
          put_multiply(nullptr, two.value, -10);
          return two.result();
        }) == 0);
  CHECK(count_wrong(-1990, [] {
          TwoStreams two(cudaStreamNonBlocking);
          put_add(two.a, two.value, 1);
          put_multiply(nullptr, two.value, 100);
          put_add(two.b, two.value, -1);
          put_multiply(nullptr, two.value, -10);
          return two.result();
        }) > 10);
  // A wait for the null stream is one for the blocking streams.
  CHECK(count_wrong(8, [] {
          TwoStreams two(cudaStreamDefault);
          int* const pinned = pinned_array(1, 0);
          put_add(two.a, two.value, 7);
          cudaMemcpyAsync(pinned, two.value, sizeof(int), cudaMemcpyDeviceToHost, two.a);
          cudaStreamSynchronize(nullptr);
          const int seen = *pinned;
          cudaFreeHost(pinned);
          return seen;
        }) == 0);
}

TEST_CASE("An event is waited for across devices", "[stream]") {
  CHECK(count_wrong(42, [] {
          TwoStreams two;
          cudaSetDevice(1);
          cudaStream_t other = new_stream(cudaStreamNonBlocking);
          auto* const target = device_array<int>(1);
          cudaSetDevice(0);
          put_add(two.a, two.value, 41);
          cudaEventRecord(two.event, two.a);
          cudaSetDevice(1);
          cudaStreamWaitEvent(other, two.event);
          cudaMemcpyAsync(target, two.value, sizeof(int), cudaMemcpyDeviceToDevice, other);
          int seen = 0;
          cudaMemcpyAsync(&seen, target, sizeof(int), cudaMemcpyDeviceToHost, other);
          cudaFree(target);
          cudaStreamDestroy(other);
          cudaSetDevice(0);
          return seen;
        }) == 0);
}

TEST_CASE("A host that asks until a stream is ready gets there", "[stream]") {
  const Streams deferred(true);
  TwoStreams two;
  put_add(two.a, two.value, 1);
  put_add(two.b, two.value, 1);
  cudaEventRecord(two.event, two.a);
  CHECK(cudaStreamQuery(two.a) == cudaErrorNotReady);
  int asked = 0;
  while (cudaEventQuery(two.event) == cudaErrorNotReady && asked < 100) ++asked;
  CHECK(asked < 100);
  while (cudaStreamQuery(two.b) == cudaErrorNotReady && asked < 100) ++asked;
  CHECK(asked < 100);
  CHECK(cudaStreamQuery(two.a) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorNotReady);
  CHECK(two.result() == 3);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("The time between two events", "[stream]") {
  const Streams deferred(true);
  cudaEvent_t start, end, untimed;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle);  // not recorded
  cudaEventRecord(start);
  TwoStreams two;  // waits
  cudaEventRecord(end);
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorNotReady);
  CHECK(cudaEventSynchronize(end) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaSuccess);
  CHECK(ms > 0);
  cudaEventRecord(untimed);
  cudaDeviceSynchronize();
  CHECK(cudaEventElapsedTime(&ms, start, untimed) == cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {start, end, untimed}) cudaEventDestroy(event);
  cudaGetLastError();
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("A stream that is destroyed still does its work, and takes no more", "[stream]") {
  const Streams deferred(true);
  const ExpectFaults expect;
  TwoStreams two;
  cudaStream_t stream = new_stream(cudaStreamNonBlocking);
  put_add(stream, two.value, 5);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(two.result() == 6);
  CHECK(emu::fault_count() == 0);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(emu::fault_count() == 1);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(launch(add, 1, 1, 0, stream, two.value, 1) == cudaErrorInvalidResourceHandle);
  CHECK(new_stream(cudaStreamDefault) != stream);
  CHECK(two.result() == 6);
}

TEST_CASE("Events that are none, or another device's, are refused", "[stream]") {
  const ExpectFaults expect;
  TwoStreams two;
  cudaEvent_t event;
  cudaEventCreate(&event);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(event, two.a) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamWaitEvent(two.a, event) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventSynchronize(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(emu::fault_count() == 4);
  emu::clear_faults();
  cudaSetDevice(1);
  cudaEventCreate(&event);
  cudaSetDevice(0);
  CHECK(cudaEventRecord(event, two.a) == cudaErrorInvalidResourceHandle);
  CHECK_THAT(emu::first_fault(), Catch::Contains("event of device 1") && Catch::Contains("stream of device 0"));
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventCreateWithFlags(&event, 64) == cudaErrorInvalidValue);
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, 2) == cudaErrorInvalidValue);
}
