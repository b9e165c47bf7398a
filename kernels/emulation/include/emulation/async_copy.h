#pragma once
#include <cstring>

#include <emulation/atomics.h>
#include <emulation/qualifiers.h>

// Copies from global to shared memory that a thread does not wait for (cp.async). Here they take place as late as the
// program allows: in the wait for their group. A thread that does not wait finds what was there before.
namespace emu {

struct AsyncCopy {
  void* to;
  const void* from;
  unsigned bytes, from_bytes;  // what lies behind from_bytes becomes 0
};
// A fault unless the sizes and the alignment of both addresses are such as the device takes.
void begin_async_copy(const AsyncCopy&);
void end_group_of_async_copies();
// The oldest copy that may not be left to do when all but the last `groups` groups are done; null: there is none.
const AsyncCopy* next_async_copy(int groups);

EMU_NOTED void wait_for_async_copies(int groups) {
  while (const AsyncCopy* const copy = next_async_copy(groups)) {
    if (copy->from_bytes > 0) note_access(copy->from, copy->from_bytes, AccessKind::load, EMU_CALLER);
    note_access(copy->to, copy->bytes, AccessKind::store, EMU_CALLER);
    std::memcpy(copy->to, copy->from, copy->from_bytes);
    std::memset(static_cast<char*>(copy->to) + copy->from_bytes, 0, copy->bytes - copy->from_bytes);
  }
}

}  // namespace emu
