#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include <kernels/device_api.h>
#include <libdnn/core/device.h>

namespace dnn {

struct Backend;

// Memory for the tensors of one device and its kernels' workspace, cut from large segments. A request takes the
// smallest free chunk that holds it; freed chunks join their free neighbors. Chunks are handed out and reused at once:
// all work on a device runs in the order of its one compute stream.
//
// What lies behind the last live chunk, the top, is used only where no gap serves, and grows as if it were infinite. So
// the same requests from the same state get the same places, whether the memory was there before or not: a training
// step that frees what it took asks the system for nothing when it is repeated.
//
// Used from any thread. Under AddressSanitizer each request goes to the system, so that use after free is seen.
class Allocator {
 public:
  Allocator(const Backend& backend, int ordinal) : backend_(backend), ordinal_(ordinal) {}
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  struct Chunk {
    std::byte* data;
    size_t bytes;
    bool free;
    Chunk *prev, *next;  // the neighbors in memory, null where there is a gap
  };
  struct Block {
    void* data = nullptr;
    size_t bytes = 0;  // as asked for
    Chunk* chunk = nullptr;
  };

  enum class Use { tensor, workspace };

  static bool caches();  // false under AddressSanitizer

  // Throws Error with the figures of memory_stats() when there is no more.
  Block take(size_t bytes, Use use = Use::tensor);
  void give_back(const Block& block, Use use = Use::tensor);

  MemoryStats stats() const;
  void reset_peak();
  void set_limit(size_t bytes);  // of what is taken from the system; 0 for none
  void release_unused();         // gives segments that no tensor uses back to the system

 private:
  struct BySize {
    using is_transparent = void;
    bool operator()(const Chunk* a, const Chunk* b) const;
    bool operator()(const Chunk* a, size_t bytes) const;
  };

  Chunk* new_chunk(std::byte* data, size_t bytes, Chunk* prev, Chunk* next);
  void erase_chunk(Chunk* chunk);
  void insert_free(Chunk* chunk);
  void remove_free(Chunk* chunk);
  std::byte* take_segment(size_t least, std::byte* after);
  bool grow(size_t bytes);
  Chunk* take_chunk(size_t bytes);
  void cut_out(Chunk* chunk, std::byte* data, size_t bytes);
  void release_unused_locked();
  [[noreturn]] void throw_out_of_memory(size_t bytes) const;

  const Backend& backend_;
  const int ordinal_;
  mutable std::mutex mutex_;
  std::map<std::byte*, size_t> segments_;
  std::set<Chunk*, BySize> free_;  // without the last
  Chunk* last_ = nullptr;          // live or free, at the end of the newest segment: where memory grows
  std::deque<Chunk> chunks_;
  std::vector<Chunk*> spare_chunks_;
  std::vector<std::set<Chunk*, BySize>::node_type> spare_nodes_;
  size_t limit_ = 0;
  MemoryStats stats_;
};

}  // namespace dnn
