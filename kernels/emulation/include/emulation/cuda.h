// What a CUDA source includes in place of cuda_runtime.h to be compiled by nvcc and for the CPU. It adds the two macros
// for shared memory, which C++ can't express otherwise, and launch().
//
//   EMU_SHARED(float, tile, [16][17]);     a variable in shared memory
//   EMU_DYNAMIC_SHARED(float, buffer);     a pointer to the launch's dynamic shared memory
//   launch(kernel, grid, block, shared_bytes, stream, arguments...)
#pragma once
#include <cuda_runtime.h>

#include <utility>

#ifdef CUDA_EMULATION
#define EMU_SHARED(T, name, ...)                                \
  static ::emu::SharedVariable<T __VA_ARGS__> name##_variable_; \
  auto& name = name##_variable_.enter(#name)
#define EMU_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(::emu::dynamic_shared())
#else
#define EMU_SHARED(T, name, ...) __shared__ __align__(16) T name __VA_ARGS__
#define EMU_DYNAMIC_SHARED(T, name)                            \
  extern __shared__ __align__(16) unsigned char emu_shared_[]; \
  T* const name = reinterpret_cast<T*>(emu_shared_)
#endif

#if defined(CUDA_EMULATION) || defined(__CUDACC__)
// The error of the launch itself; what happens in the kernel shows later.
template <class... P, class... A>
cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                   A&&... arguments) {
#ifdef CUDA_EMULATION
  return ::emu::launch_kernel(kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
#else
  // clang-format off
  kernel<<<grid, block, shared_bytes, stream>>>(static_cast<P>(arguments)...);
  // clang-format on
  return cudaPeekAtLastError();
#endif
}
#endif
