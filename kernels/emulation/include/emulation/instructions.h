// Instructions of the device that C++ has no words for, one function each, for nvcc and for the CPU. Under nvcc they
// are inline PTX; on a device that lacks one (sm_75: all but ldmatrix and the f16 product of depth 8) a copy is a plain
// one, and a product traps.
#pragma once
#include <emulation/cuda.h>

#ifdef CUDA_EMULATION
#include <emulation/async_copy.h>
#include <emulation/warp_matrix.h>
#define EMU_AT , ::emu::Location at = ::emu::Location::current()
#else
#define EMU_AT
#endif

#if defined(CUDA_EMULATION) || defined(__CUDACC__)

#ifndef CUDA_EMULATION
__device__ __forceinline__ unsigned shared_address(const void* data) {
  return static_cast<unsigned>(__cvta_generic_to_shared(data));
}
#endif

// Copies kBytes (4, 8 or 16) from global to shared memory without waiting; what lies behind the first `source_bytes` of
// them becomes 0. Both addresses are multiples of kBytes.
template <int kBytes>
__device__ __forceinline__ void cp_async(void* shared, const void* global, int source_bytes = kBytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "the device copies 4, 8 or 16 bytes");
#ifdef CUDA_EMULATION
  ::emu::begin_async_copy({shared, global, kBytes, static_cast<unsigned>(source_bytes)});
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (kBytes == 16) {  // past the first cache: .cg, which takes no other size
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(shared)), "l"(global),
                 "n"(kBytes), "r"(source_bytes)
                 : "memory");
  }
#else
  for (int i = 0; i < kBytes / 4; ++i) {
    static_cast<unsigned*>(shared)[i] = 4 * i < source_bytes ? static_cast<const unsigned*>(global)[i] : 0;
  }
#endif
}
__device__ __forceinline__ void cp_async_4(void* shared, const void* global, int source_bytes = 4) {
  cp_async<4>(shared, global, source_bytes);
}
__device__ __forceinline__ void cp_async_8(void* shared, const void* global, int source_bytes = 8) {
  cp_async<8>(shared, global, source_bytes);
}
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, int source_bytes = 16) {
  cp_async<16>(shared, global, source_bytes);
}

// The copies since the last commit become a group.
__device__ __forceinline__ void cp_async_commit() {
#ifdef CUDA_EMULATION
  ::emu::end_group_of_async_copies();
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until all but the last kGroups groups of this thread are done. Other threads see them after a barrier.
template <int kGroups>
__device__ __forceinline__ void cp_async_wait() {
#ifdef CUDA_EMULATION
  ::emu::wait_for_async_copies(kGroups);
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

// To nearest, ties away from 0, with 10 bits behind the point.
__device__ __forceinline__ unsigned to_tf32(float x) {
#ifdef CUDA_EMULATION
  const unsigned bits = ::emu::__float_as_uint(x);
  return (bits & 0x7F800000u) == 0x7F800000u ? bits : (bits + 0x1000u) & 0xFFFFE000u;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
#else
  return __float_as_uint(x);
#endif
}

// d = a * b + c for 16 x 8 elements; d may be c. Lane l holds of the results rows l / 4 and l / 4 + 8, columns
// 2 (l % 4) and the next. emulation/warp_matrix.h has the places of a and b.
#define EMU_MMA_F32_4_2(type_a, shape)                                                                              \
  asm volatile("mma.sync.aligned." shape ".row.col.f32." type_a "." type_a                                          \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                           \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), \
                 "f"(c[3]))

__device__ __forceinline__ void mma_m16n8k8_tf32(float* d, const unsigned* a, const unsigned* b,
                                                 const float* c EMU_AT) {
#ifdef CUDA_EMULATION
  ::emu::warp_multiply_tf32(d, a, b, c, at);
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  EMU_MMA_F32_4_2("tf32", "m16n8k8");
#else
  __trap();
#endif
}

__device__ __forceinline__ void mma_m16n8k16_bf16(float* d, const unsigned* a, const unsigned* b,
                                                  const float* c EMU_AT) {
#ifdef CUDA_EMULATION
  ::emu::warp_multiply_bf16(d, a, b, c, at);
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  EMU_MMA_F32_4_2("bf16", "m16n8k16");
#else
  __trap();
#endif
}

__device__ __forceinline__ void mma_m16n8k16_f16(float* d, const unsigned* a, const unsigned* b,
                                                 const float* c EMU_AT) {
#ifdef CUDA_EMULATION
  ::emu::warp_multiply_f16(d, a, b, c, at);
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  EMU_MMA_F32_4_2("f16", "m16n8k16");
#else
  __trap();
#endif
}

// The first two registers of a and the first of b of the product of depth 16.
__device__ __forceinline__ void mma_m16n8k8_f16(float* d, const unsigned* a, const unsigned* b, const float* c EMU_AT) {
#ifdef CUDA_EMULATION
  ::emu::warp_multiply_f16_k8(d, a, b, c, at);
#else
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#endif
}

// Lane 8 i + r names row r of matrix i of 8 x 8 elements of 16 bits, 16-byte aligned in shared memory; lane l gets of
// row l / 4 of each the elements 2 (l % 4) and the next: as a product takes them.
__device__ __forceinline__ void ldmatrix_x4(unsigned* registers, const void* row EMU_AT) {
#ifdef CUDA_EMULATION
  ::emu::warp_load_matrices(registers, row, at);
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(shared_address(row))
               : "memory");
#endif
}

#undef EMU_MMA_F32_4_2
#endif
#undef EMU_AT
