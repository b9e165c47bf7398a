#pragma once

// Defined where a CUDA source is compiled for the CPU.
#define CUDA_EMULATION 1

// clang++ 14 does not say so itself.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // libstdc++ itself writes __attribute__((__noinline__))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// Without guard zones; EMU_SHARED of emulation/cuda.h has them.
#define __shared__ static
#define __constant__ static

// Kernels of the checked build call the checker at each load and store; what the model itself does must not.
#ifdef EMU_CHECKED
#define EMU_UNCHECKED __attribute__((no_sanitize("thread")))
#else
#define EMU_UNCHECKED
#endif
