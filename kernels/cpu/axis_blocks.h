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

  explicit AxisBlocks(const AxisShape& shape) : inner(shape.inner) {
    chunks = chunk_count(shape.count(), kChunkElements);
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

}  // namespace dnn::cpu
