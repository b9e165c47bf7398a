#include <libdnn/core/allocator.h>

#include <algorithm>
#include <bit>

namespace dnn {
namespace {

// The size of the block that serves a request: eight sizes from each power of two to the next, so that slightly
// different requests share blocks. A block only ever serves its own size: what a step took, the next finds again,
// whatever else came and went in between.
size_t block_size(size_t bytes) {
  constexpr size_t kLeast = 256, kSizes = 8;
  const size_t step = std::max(kLeast, std::bit_floor(bytes - 1) / kSizes);
  return (bytes + step - 1) / step * step;
}

}  // namespace

Allocator::Block Allocator::take(size_t bytes) {
  if (bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  Block block{nullptr, bytes, block_size(bytes)};
  const auto found = unused_.find(block.reserved);
  if (found != unused_.end()) {
    block.data = found->second;
    unused_.erase(found);
  } else {
    try {
      block.data = backend_.device.alloc(block.reserved);
    } catch (const Error&) {
      release_unused_locked();
      block.data = backend_.device.alloc(block.reserved);
    }
    stats_.reserved_bytes += static_cast<int64_t>(block.reserved);
  }
  stats_.allocated_bytes += static_cast<int64_t>(bytes);
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.allocated_bytes);
  return block;
}

void Allocator::give_back(const Block& block) {
  if (block.bytes == 0) return;
  const std::lock_guard lock(mutex_);
  stats_.allocated_bytes -= static_cast<int64_t>(block.bytes);
  unused_.emplace(block.reserved, block.data);
}

MemoryStats Allocator::stats() const {
  const std::lock_guard lock(mutex_);
  MemoryStats stats = stats_;
  stats.system_allocations = backend_.device.allocations();
  return stats;
}

void Allocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak_bytes = stats_.allocated_bytes;
}

void Allocator::release_unused() {
  const std::lock_guard lock(mutex_);
  release_unused_locked();
}

void Allocator::release_unused_locked() {
  for (const auto& [bytes, data] : unused_) {
    backend_.device.free(data, bytes);
    stats_.reserved_bytes -= static_cast<int64_t>(bytes);
  }
  unused_.clear();
}

}  // namespace dnn
