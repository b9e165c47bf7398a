#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include <kernels/parallel.h>

// How the loops that are bound by memory cut and store their arrays.
namespace dnn::cpu {

constexpr int64_t kLineFloats = 16;  // a cache line; also the widest vector

// As chunk_range, with borders at multiples of a line from the start of the array.
inline Range line_range(int64_t count, int64_t chunks, int64_t chunk) {
  const Range lines = chunk_range((count + kLineFloats - 1) / kLineFloats, chunks, chunk);
  return {lines.begin * kLineFloats, std::min(count, lines.end * kLineFloats)};
}

// How many rows of `cols` values to take as one, so that it is of whole vectors and long enough for its loop.
inline int rows_at_once(int64_t cols) {
  constexpr int kWide = 128, kLongEnough = 64;
  if (cols >= kWide) return 1;
  int64_t rows = kLineFloats / std::gcd(cols, kLineFloats);
  while (rows * cols < kLongEnough) rows *= 2;
  return static_cast<int>(rows);
}

// Whether to store a result around the caches. A line that is stored in full need not be read first, which makes three
// transfers of a copy two; but a result that fits the last cache is better kept there for who reads it next.
inline bool worth_streaming(const float* y, int64_t count) {
  constexpr int64_t kStreamedFloats = int64_t{8} << 20;  // 32 MB
  return count >= kStreamedFloats && reinterpret_cast<uintptr_t>(y) % (kLineFloats * sizeof(float)) == 0;
}

}  // namespace dnn::cpu
