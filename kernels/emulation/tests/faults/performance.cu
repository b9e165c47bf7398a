#include <cstdio>

#include "faults.h"

namespace {

__global__ void loads_columns(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x * 8];  // fault: 1
}

__global__ void transposes_without_padding(float* y) {
  EMU_SHARED(float, tile, [32][32]);
  for (int i = 0; i < 4; ++i) {
    const unsigned row = threadIdx.x / 32 + 8 * static_cast<unsigned>(i);
    tile[row][threadIdx.x % 32] = 1;
  }
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x % 32][threadIdx.x / 32];  // fault: 2
}

// What the checked build has to say about performance is printed.
bool moves_only_what_it_needs() {
  cudaDeviceSynchronize();
  const std::vector<std::string> lines = wasteful_lines();
  for (const std::string& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
  return lines.empty();
}

}  // namespace

SEEDED_FAULT(uncoalesced_access) {
  run_block_of(kThreads, loads_columns, static_cast<const float*>(zeros(8 * kThreads)), zeros(kThreads));
  return moves_only_what_it_needs();
}

SEEDED_FAULT(bank_conflict) {
  run_block_of(kThreads, transposes_without_padding, zeros(kThreads));
  return moves_only_what_it_needs();
}
