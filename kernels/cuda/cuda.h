#pragma once
#include <cstdint>

#include <emulation/cuda.h>

#include <kernels/context.h>

// What the kernels of the rows `cuda` and `cuda_emulated` share. Each source is compiled by nvcc for the one, and as
// C++ on kernels/emulation for the other.
namespace dnn::cuda {

// Throws Error, "[unary_forward] <what>: <CUDA's name and words>", unless all is well.
void check(cudaError_t status, const char* op, const char* what = "");

void use_device(int ordinal);  // for the calling thread's next calls

inline cudaStream_t stream_of(const Context& context) { return static_cast<cudaStream_t>(context.stream); }

constexpr int kBlock = 256;  // threads of a block, where nothing else is better

// Blocks of kBlock threads for `count` threads, no more than fill the device several times: kernels go on with a stride
// of the whole grid.
inline unsigned blocks_for(int64_t count) {
  constexpr int64_t kMost = 8192;
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < kMost ? blocks : kMost);
}

// The thread's number in a grid of one dimension, and how many there are.
__device__ inline int64_t grid_thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline int64_t grid_threads() { return int64_t{gridDim.x} * blockDim.x; }

[[noreturn]] void launch_failed(cudaError_t status, const char* op, dim3 grid, dim3 block, size_t shared_bytes);

// Puts a kernel into the context's stream. A launch that is refused throws Error, with its shape; nothing is launched
// where the grid is empty.
template <class... P, class... A>
void launch(const Context& context, const char* op, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes,
            A&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  use_device(context.ordinal);
  const cudaError_t status =
      ::launch(kernel, grid, block, shared_bytes, stream_of(context), std::forward<A>(arguments)...);
  if (status != cudaSuccess) launch_failed(status, op, grid, block, shared_bytes);
}

}  // namespace dnn::cuda
