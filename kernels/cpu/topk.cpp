// The k largest or smallest values of each line along an axis. A value and its place make one whole number, which is
// larger the better the value is, and for the first of equals: selecting and sorting compare nothing else.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include <kernels/cpu/cpu.h>
#include <kernels/parallel.h>

namespace dnn::cpu {
namespace {

// In the order of the values: -0 as 0, a NaN above all.
uint32_t rank_of(float value) {
  if (std::isnan(value)) return ~uint32_t{0};
  const uint32_t bits = std::bit_cast<uint32_t>(value + 0.0f), sign = uint32_t{1} << 31;
  return bits & sign ? ~bits : bits | sign;
}

uint64_t key_of(float value, bool largest, int32_t place) {
  const uint32_t rank = largest ? rank_of(value) : ~rank_of(value);
  return uint64_t{rank} << 32 | ~static_cast<uint32_t>(place);
}

int32_t place_of(uint64_t key) { return static_cast<int32_t>(~static_cast<uint32_t>(key)); }

}  // namespace

void topk(Context& context, const AxisShape& shape, int k, bool largest, const float* x, float* values,
          int32_t* index) {
  const int64_t lines = shape.lines(), chunks = std::min(lines, chunk_count(shape.count(), kChunkElements / 4));
  if (k == 0 || chunks == 0) return;
  Workspace workspace(context);
  uint64_t* all_keys = workspace.take<uint64_t>(threads_for(context, chunks) * int64_t{shape.size});
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(lines, chunks, chunk);
    uint64_t* keys = all_keys + thread * int64_t{shape.size};
    for (int64_t line = range.begin; line < range.end; ++line) {
      const int64_t outer = line / shape.inner, inner = line % shape.inner;
      const float* from = x + outer * shape.size * shape.inner + inner;
      for (int i = 0; i < shape.size; ++i) keys[i] = key_of(from[i * shape.inner], largest, i);
      if (k < shape.size) std::nth_element(keys, keys + k - 1, keys + shape.size, std::greater<>());
      std::sort(keys, keys + k, std::greater<>());
      const int64_t to = outer * k * shape.inner + inner;
      for (int i = 0; i < k; ++i) {
        index[to + i * shape.inner] = place_of(keys[i]);
        values[to + i * shape.inner] = from[place_of(keys[i]) * shape.inner];
      }
    }
  });
}

}  // namespace dnn::cpu
