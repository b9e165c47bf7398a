#include <libdnn/core/allocator.h>

#include <fmt/format.h>

#include <algorithm>

#include <kernels/backend.h>

namespace dnn {

namespace {

constexpr size_t kSegmentUnit = size_t{2} << 20;  // a huge page
constexpr size_t kLargestGrowth = size_t{64} << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

bool Allocator::BySize::operator()(const Chunk* a, const Chunk* b) const {
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->data < b->data;
}
bool Allocator::BySize::operator()(const Chunk* a, size_t bytes) const { return a->bytes < bytes; }

bool Allocator::caches() {
#ifdef __SANITIZE_ADDRESS__
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

Allocator::Chunk* Allocator::new_chunk(std::byte* data, size_t bytes, Chunk* prev, Chunk* next) {
  Chunk* chunk;
  if (spare_chunks_.empty()) {
    chunk = &chunks_.emplace_back();
  } else {
    chunk = spare_chunks_.back();
    spare_chunks_.pop_back();
  }
  *chunk = {data, bytes, true, prev, next};
  if (prev) prev->next = chunk;
  if (next) next->prev = chunk;
  return chunk;
}

void Allocator::erase_chunk(Chunk* chunk) {
  if (chunk->prev) chunk->prev->next = chunk->next;
  if (chunk->next) chunk->next->prev = chunk->prev;
  *chunk = {};
  spare_chunks_.push_back(chunk);
}

// The last chunk is not among the free ones: take() turns to it when no other serves.
void Allocator::insert_free(Chunk* chunk) {
  if (chunk == last_) return;
  if (spare_nodes_.empty()) {
    free_.insert(chunk);
  } else {
    spare_nodes_.back().value() = chunk;
    free_.insert(std::move(spare_nodes_.back()));
    spare_nodes_.pop_back();
  }
}

void Allocator::remove_free(Chunk* chunk) {
  if (chunk != last_) spare_nodes_.push_back(free_.extract(chunk));
}

// Takes a segment of at least `least` bytes, behind the last one where `after` is its end; null where there is none.
std::byte* Allocator::take_segment(size_t least, std::byte* after) {
  least = round_up(least, kSegmentUnit);
  // A segment that joins the last one can be small. One by itself is an eighth of what there is, so that few gaps
  // divide the memory and little stays unused.
  const size_t eighth = round_up(static_cast<size_t>(stats_.reserved_bytes) / 8, kSegmentUnit);
  const size_t apart = std::max(least, std::min(eighth, kLargestGrowth));
  for (const size_t bytes : {after ? least : apart, least}) {
    if (limit_ > 0 && static_cast<size_t>(stats_.reserved_bytes) + bytes > limit_) continue;
    auto* data = static_cast<std::byte*>(backend_.device.alloc(ordinal_, bytes, after));
    if (!data) continue;
    segments_.emplace(data, bytes);
    stats_.reserved_bytes += static_cast<int64_t>(bytes);
    return data;
  }
  return nullptr;
}

// Makes the last chunk a free one of that size; false where the system has no more.
bool Allocator::grow(size_t bytes) {
  const bool top = last_ && last_->free;
  if (last_) {
    std::byte* const end = last_->data + last_->bytes;
    if (std::byte* const data = take_segment(bytes - (top ? last_->bytes : 0), end)) {
      const size_t more = segments_.at(data);
      if (top) {
        last_->bytes += more;
      } else {
        last_ = new_chunk(data, more, last_, nullptr);
      }
      return true;
    }
  }
  std::byte* const data = take_segment(bytes, nullptr);
  if (!data) return false;
  Chunk* const old = last_;
  last_ = new_chunk(data, segments_.at(data), nullptr, nullptr);
  if (top) insert_free(old);
  return true;
}

Allocator::Block Allocator::take(size_t bytes, Use use) {
  if (bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  Block block{nullptr, bytes, nullptr};
  if (backend_.kind != DeviceKind::meta) {
    block.chunk = take_chunk(round_up(bytes, backend_.device.alignment));
    if (!block.chunk) {
      release_unused_locked();
      block.chunk = take_chunk(round_up(bytes, backend_.device.alignment));
    }
    if (!block.chunk) throw_out_of_memory(bytes);
    block.data = block.chunk->data;
  }
  (use == Use::tensor ? stats_.allocated_bytes : stats_.workspace_bytes) += static_cast<int64_t>(bytes);
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.allocated_bytes);
  return block;
}

// Null where there is no room.
Allocator::Chunk* Allocator::take_chunk(size_t bytes) {
  if (!caches()) {
    auto* data = static_cast<std::byte*>(backend_.device.alloc(ordinal_, bytes, nullptr));
    return data ? new_chunk(data, bytes, nullptr, nullptr) : nullptr;
  }
  Chunk* chunk = nullptr;
  if (const auto found = free_.lower_bound(bytes); found != free_.end()) {
    chunk = *found;
    remove_free(chunk);
  } else {
    if (!(last_ && last_->free && last_->bytes >= bytes) && !grow(bytes)) return nullptr;
    chunk = last_;
  }
  chunk->free = false;
  if (chunk->bytes > bytes) {
    Chunk* const rest = new_chunk(chunk->data + bytes, chunk->bytes - bytes, chunk, chunk->next);
    chunk->bytes = bytes;
    if (chunk == last_) last_ = rest;
    insert_free(rest);
  }
  return chunk;
}

void Allocator::give_back(const Block& block, Use use) {
  if (block.bytes == 0) return;
  const std::lock_guard lock(mutex_);
  (use == Use::tensor ? stats_.allocated_bytes : stats_.workspace_bytes) -= static_cast<int64_t>(block.bytes);
  Chunk* chunk = block.chunk;
  if (!chunk) return;
  if (!caches()) {
    backend_.device.free(ordinal_, chunk->data, chunk->bytes);
    erase_chunk(chunk);
    return;
  }
  chunk->free = true;
  for (Chunk* const neighbor : {chunk->prev, chunk->next}) {
    if (!neighbor || !neighbor->free) continue;
    remove_free(neighbor);
    Chunk* const first = neighbor == chunk->prev ? neighbor : chunk;
    Chunk* const second = neighbor == chunk->prev ? chunk : neighbor;
    first->bytes += second->bytes;
    if (second == last_) last_ = first;
    erase_chunk(second);
    chunk = first;
  }
  insert_free(chunk);
}

MemoryStats Allocator::stats() const {
  const std::lock_guard lock(mutex_);
  MemoryStats stats = stats_;
  stats.limit_bytes = static_cast<int64_t>(limit_);
  stats.system_allocations = backend_.device.allocations();
  return stats;
}

void Allocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak_bytes = stats_.allocated_bytes;
}

void Allocator::set_limit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

void Allocator::release_unused() {
  const std::lock_guard lock(mutex_);
  release_unused_locked();
}

// Segments lie in one free chunk, or some chunk in them is live. A chunk may begin and end within segments that stay.
void Allocator::release_unused_locked() {
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    const auto [data, bytes] = *segment;
    const auto inside = std::find_if(chunks_.begin(), chunks_.end(), [data = data, bytes = bytes](const Chunk& c) {
      return c.free && c.data <= data && data + bytes <= c.data + c.bytes;
    });
    if (inside == chunks_.end()) {
      ++segment;
      continue;
    }
    cut_out(&*inside, data, bytes);
    backend_.device.free(ordinal_, data, bytes);
    stats_.reserved_bytes -= static_cast<int64_t>(bytes);
    segment = segments_.erase(segment);
  }
}

// Leaves of a free chunk what lies before and behind the memory.
void Allocator::cut_out(Chunk* chunk, std::byte* data, size_t bytes) {
  remove_free(chunk);
  const bool was_last = chunk == last_;
  Chunk *const prev = chunk->prev, *const next = chunk->next;
  std::byte *const begin = chunk->data, *const end = chunk->data + chunk->bytes;
  erase_chunk(chunk);
  if (prev) prev->next = nullptr;
  if (next) next->prev = nullptr;
  Chunk* const before = begin < data ? new_chunk(begin, static_cast<size_t>(data - begin), prev, nullptr) : nullptr;
  Chunk* const behind =
      data + bytes < end ? new_chunk(data + bytes, static_cast<size_t>(end - data) - bytes, nullptr, next) : nullptr;
  if (was_last) last_ = behind ? behind : before ? before : prev;
  for (Chunk* const part : {before, behind}) {
    if (part) insert_free(part);
  }
}

void Allocator::throw_out_of_memory(size_t bytes) const {
  const int64_t in_use = stats_.allocated_bytes + stats_.workspace_bytes;
  throw Error(fmt::format("[alloc] out of memory on {}: {:.1f} MiB wanted, {:.1f} MiB in use, {:.1f} MiB cached{}",
                          backend_.name, mib(static_cast<int64_t>(bytes)), mib(in_use),
                          mib(stats_.reserved_bytes - in_use),
                          limit_ > 0 ? fmt::format(", limit {:.1f} MiB", mib(static_cast<int64_t>(limit_))) : ""));
}

}  // namespace dnn
