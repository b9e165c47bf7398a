#include <libdnn/core/allocator.h>

#include <algorithm>

namespace dnn {
namespace {

constexpr size_t kGranule = 256;

// A block may be larger than the request by an eighth, so that slightly different sizes share it.
bool fits(size_t block, size_t request) { return block <= request + std::max(request / 8, kGranule); }

}  // namespace

Allocator::Block Allocator::take(size_t bytes) {
  if (bytes == 0) return {};
  const size_t request = (bytes + kGranule - 1) / kGranule * kGranule;
  const std::lock_guard lock(mutex_);
  Block block{nullptr, bytes, request};
  const auto found = unused_.lower_bound(request);
  if (found != unused_.end() && fits(found->first, request)) {
    block = {found->second, bytes, found->first};
    unused_.erase(found);
  } else {
    try {
      block.data = backend_.device.alloc(request);
    } catch (const Error&) {
      release_unused_locked();
      block.data = backend_.device.alloc(request);
    }
    stats_.reserved_bytes += static_cast<int64_t>(request);
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
