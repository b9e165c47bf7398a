#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <kernels/backend.h>

namespace dnn {

struct MemoryStats {
  int64_t allocated_bytes = 0;     // in live tensors, as they asked for
  int64_t peak_bytes = 0;          // the most of that since reset_peak()
  int64_t reserved_bytes = 0;      // taken from the system for tensors, live or kept for reuse
  int64_t system_allocations = 0;  // calls to the system's allocator, kernels' workspace included
};

// Memory for the tensors of one backend. Freed blocks are kept and reused for requests of about their size (a block is
// up to an eighth larger than its request), so that a training loop asks the system for nothing after its first step.
// Used from any thread.
class Allocator {
 public:
  explicit Allocator(const Backend& backend) : backend_(backend) {}

  struct Block {
    void* data = nullptr;
    size_t bytes = 0;     // as asked for
    size_t reserved = 0;  // as taken from the system
  };

  Block take(size_t bytes);  // throws Error when the device has no more
  void give_back(const Block& block);

  MemoryStats stats() const;
  void reset_peak();
  void release_unused();  // returns what no tensor uses to the system

 private:
  void release_unused_locked();

  const Backend& backend_;
  mutable std::mutex mutex_;
  std::multimap<size_t, void*> unused_;  // by size
  MemoryStats stats_;
};

}  // namespace dnn
