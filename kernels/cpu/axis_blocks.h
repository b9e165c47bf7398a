#pragma once
#include <algorithm>

#include <kernels/cpu/lines.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// How work along an axis with neighbours (inner > 1) is split: blocks of at most `width` neighbouring lines, whose
// running values stay in L1.
struct AxisBlocks {
  static constexpr int64_t kWidest = 1024;
  int64_t inner, width, blocks, tasks, chunks;

  struct Block {
    int64_t outer, first, width;
  };

  explicit AxisBlocks(const AxisShape& shape, int64_t grain = kChunkElements) : inner(shape.inner) {
    chunks = chunk_count(shape.count(), grain);
    const int64_t lines = (inner + kLineFloats - 1) / kLineFloats;  // of the cache
    const int64_t wanted = std::min((chunks + shape.outer - 1) / std::max<int64_t>(shape.outer, 1), lines);
    width = std::min(kWidest, (lines + wanted - 1) / std::max<int64_t>(wanted, 1) * kLineFloats);
    blocks = width > 0 ? (inner + width - 1) / width : 0;
    tasks = shape.outer * blocks;
    chunks = std::min(chunks, tasks);
  }
  Block block(int64_t task) const {
    const int64_t first = task % blocks * width;
    return {task / blocks, first, std::min(width, inner - first)};
  }
};

// f(block, offset of its first value, thread) for every block.
template <class F>
void for_each_block(Context& context, const AxisShape& shape, const AxisBlocks& blocks, F&& f) {
  parallel_for(context, blocks.chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(blocks.tasks, blocks.chunks, chunk);
    for (int64_t task = range.begin; task < range.end; ++task) {
      const AxisBlocks::Block block = blocks.block(task);
      f(block, block.outer * shape.size * shape.inner + block.first, thread);
    }
  });
}

// f(lines of a chunk), where the values of a line lie side by side (inner is 1).
template <class F>
void for_each_chunk_of_lines(Context& context, const AxisShape& shape, F&& f, int64_t grain = kChunkElements) {
  const int64_t chunks = std::min(shape.outer, chunk_count(shape.count(), grain));
  parallel_for(context, chunks, [&](int64_t chunk, int) { f(chunk_range(shape.outer, chunks, chunk)); });
}

}  // namespace dnn::cpu
