#pragma once
#include <kernels/cuda/cuda.h>

#include <cstdint>
#include <initializer_list>

// Four floats at a time.
namespace dnn::cuda {

__device__ inline float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }
__device__ inline void store4(float* to, float4 values) { *reinterpret_cast<float4*>(to) = values; }

// f of a number, or of each of four.
template <class F>
__device__ float map(F&& f, float x) {
  return f(x);
}
template <class F>
__device__ float map(F&& f, float x, float y) {
  return f(x, y);
}
template <class F>
__device__ float4 map(F&& f, float4 x) {
  return make_float4(f(x.x), f(x.y), f(x.z), f(x.w));
}
template <class F>
__device__ float4 map(F&& f, float4 x, float4 y) {
  return make_float4(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z), f(x.w, y.w));
}

inline bool aligned(const void* data, size_t bytes = sizeof(float4)) {
  return reinterpret_cast<uintptr_t>(data) % bytes == 0;
}

// How a kernel walks through `count` elements: singly up to the first address that a vector may have, then vectors,
// then singly again. Where not all operands reach such an address together, there are no vectors.
struct VectorParts {
  int64_t head = 0, vectors = 0, singles = 0;  // singles: those of the head and those behind the vectors

  int64_t threads() const { return vectors > singles ? vectors : singles; }
};

// kWidth elements of `size` bytes are a vector.
template <int kWidth>
VectorParts vector_parts(int64_t count, size_t size, std::initializer_list<const void*> operands) {
  const auto behind = [&](const void* data) { return reinterpret_cast<uintptr_t>(data) % (kWidth * size); };
  VectorParts parts;
  parts.singles = count;
  size_t common = 0;
  bool first = true;
  for (const void* operand : operands) {
    if (!first && behind(operand) != common) return parts;
    common = behind(operand);
    first = false;
  }
  const auto head = static_cast<int64_t>((kWidth * size - common) % (kWidth * size) / size);
  if (head + kWidth > count) return parts;
  parts.head = head;
  parts.vectors = (count - head) / kWidth;
  parts.singles = count - kWidth * parts.vectors;
  return parts;
}

// vector(the first element's number) and single(number), spread over the grid's threads. Not unrolled: the compiler
// would divide to learn how often a loop runs.
template <int kWidth, class V, class S>
__device__ void for_each_part(const VectorParts& parts, V&& vector, S&& single) {
#pragma unroll 1
  for (int64_t i = grid_thread(); i < parts.vectors; i += grid_threads()) vector(parts.head + kWidth * i);
#pragma unroll 1
  for (int64_t i = grid_thread(); i < parts.singles; i += grid_threads()) {
    single(i < parts.head ? i : i + kWidth * parts.vectors);
  }
}

}  // namespace dnn::cuda
