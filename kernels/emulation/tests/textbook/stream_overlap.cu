#include <emulation/cuda.h>

#include <catch2/catch.hpp>
#include <vector>

#include "../runtime/host_support.h"

// Work in pieces, so that a piece is copied while another is computed: two pinned buffers, a stream for the copies, one
// for the kernels, and events between them.
namespace {

constexpr int kPiece = 256, kPieces = 7;

__global__ void square(float* values, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= values[i];
}

enum class Forgotten { nothing, copy_before_kernel, kernel_before_copy_back, buffer_in_use };

std::vector<float> squares(const std::vector<float>& values, Forgotten forgotten) {
  std::vector<float> results;
  cudaStream_t copies, kernels;
  cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking);
  float *buffers[2], *pieces[2];
  cudaEvent_t copied[2], computed[2], returned[2];
  constexpr size_t kBytes = kPiece * sizeof(float);
  for (int i = 0; i < 2; ++i) {
    cudaMallocHost(&buffers[i], kBytes);
    cudaMalloc(&pieces[i], kBytes);
    for (cudaEvent_t* event : {&copied[i], &computed[i], &returned[i]}) {
      cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    }
  }
  const auto take_results = [&](int i) {
    if (forgotten != Forgotten::buffer_in_use) cudaEventSynchronize(returned[i]);
    results.insert(results.end(), buffers[i], buffers[i] + kPiece);
  };
  for (int piece = 0; piece < kPieces; ++piece) {
    const int i = piece % 2;
    if (piece >= 2) take_results(i);
    for (int j = 0; j < kPiece; ++j) buffers[i][j] = values[static_cast<size_t>(piece * kPiece + j)];
    cudaMemcpyAsync(pieces[i], buffers[i], kBytes, cudaMemcpyHostToDevice, copies);
    cudaEventRecord(copied[i], copies);
    if (forgotten != Forgotten::copy_before_kernel) cudaStreamWaitEvent(kernels, copied[i]);
    launch(square, kPiece / 128, 128, 0, kernels, pieces[i], kPiece);
    cudaEventRecord(computed[i], kernels);
    if (forgotten != Forgotten::kernel_before_copy_back) cudaStreamWaitEvent(copies, computed[i]);
    cudaMemcpyAsync(buffers[i], pieces[i], kBytes, cudaMemcpyDeviceToHost, copies);
    cudaEventRecord(returned[i], copies);
  }
  take_results(kPieces % 2);
  take_results((kPieces + 1) % 2);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i) {
    cudaFreeHost(buffers[i]);
    cudaFree(pieces[i]);
    for (cudaEvent_t event : {copied[i], computed[i], returned[i]}) cudaEventDestroy(event);
  }
  cudaStreamDestroy(copies);
  cudaStreamDestroy(kernels);
  return results;
}

int count_wrong(Forgotten forgotten) {
  std::vector<float> values, expected;
  for (int i = 0; i < kPiece * kPieces; ++i) {
    values.push_back(static_cast<float>(i % 1000));
    expected.push_back(values.back() * values.back());
  }
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    emu::set_deferred(true, seed);
    wrong += squares(values, forgotten) != expected;
  }
  emu::set_deferred(true);
  return wrong;
}

}  // namespace

TEST_CASE("Copies and kernels overlap, in two streams with events") {
  CHECK(count_wrong(Forgotten::nothing) == 0);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("Each event that is left out shows") {
  const emu_test::ExpectFaults expect;  // the checked build sees what is read before it is there
  CHECK(count_wrong(Forgotten::copy_before_kernel) == 10);
  CHECK(count_wrong(Forgotten::kernel_before_copy_back) == 10);
  CHECK(count_wrong(Forgotten::buffer_in_use) == 10);
}
