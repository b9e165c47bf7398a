#pragma once
#include <cstddef>

namespace emu {

// Host memory of cudaHostAlloc: what holds the byte, or null where none does.
struct PinnedMemory {
  std::byte* begin;
  size_t bytes;
};
const PinnedMemory* find_pinned(const void*);

}  // namespace emu
