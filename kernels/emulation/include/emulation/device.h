#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <emulation/atomics.h>
#include <emulation/location.h>
#include <emulation/qualifiers.h>
#include <emulation/vector_types.h>

// What a kernel sees: its place in the grid, barriers, operations of a warp, shared memory. A wrong mask, a lane that
// has left, and threads that meet at different barriers are faults (control.h).
namespace emu {

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

void __syncthreads(Location = Location::current());
int __syncthreads_count(int predicate, Location = Location::current());
int __syncthreads_and(int predicate, Location = Location::current());
int __syncthreads_or(int predicate, Location = Location::current());
inline void __threadfence() { note_fence(); }
inline void __threadfence_block() {}
inline void __threadfence_system() { note_fence(); }

// Lanes of a warp that meet: each brings up to 32 bytes and sees those of the others until it leaves.
struct WarpMeeting {
  alignas(16) unsigned char brought[32][32];
  unsigned mask, arrived;
  int still_here;
  const char* operation;
  Location location;
};
WarpMeeting* meet(unsigned mask, const void* bring, size_t bytes, const char* operation, Location);
void leave(WarpMeeting*);
int lane();

inline void __syncwarp(unsigned mask = ~0u, Location at = Location::current()) {
  const char nothing = 0;
  leave(meet(mask, &nothing, 1, "__syncwarp", at));
}

// The value of another lane; of a lane outside the mask, which is undefined on the device, bytes 0xFF.
template <class T>
EMU_UNCHECKED T shuffle(unsigned mask, T value, int from, const char* operation, Location at) {
  static_assert(sizeof(T) <= 8, "a shuffle takes 4 or 8 bytes");
  WarpMeeting* const meeting = meet(mask, &value, sizeof value, operation, at);
  T result;
  if (meeting->mask >> from & 1) {
    std::memcpy(&result, meeting->brought[from], sizeof result);
  } else {
    std::memset(static_cast<void*>(&result), 0xFF, sizeof result);
  }
  leave(meeting);
  return result;
}

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32, Location at = Location::current()) {
  return shuffle(mask, value, (lane() & ~(width - 1)) + (from & (width - 1)), "__shfl_sync", at);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, Location at = Location::current()) {
  const int from = lane() ^ lane_mask;
  // A lane of an earlier segment may be read, one of a later one not.
  return shuffle(mask, value, from < (lane() & ~(width - 1)) + width ? from & 31 : lane(), "__shfl_xor_sync", at);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, Location at = Location::current()) {
  const int in_segment = (lane() & (width - 1)) + static_cast<int>(delta);
  return shuffle(mask, value, in_segment < width ? lane() + static_cast<int>(delta) : lane(), "__shfl_down_sync", at);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, Location at = Location::current()) {
  const int in_segment = (lane() & (width - 1)) - static_cast<int>(delta);
  return shuffle(mask, value, in_segment >= 0 ? lane() - static_cast<int>(delta) : lane(), "__shfl_up_sync", at);
}

unsigned __ballot_sync(unsigned mask, int predicate, Location = Location::current());
int __any_sync(unsigned mask, int predicate, Location = Location::current());
int __all_sync(unsigned mask, int predicate, Location = Location::current());
unsigned __match_any_sync(unsigned mask, unsigned value, Location = Location::current());
unsigned __reduce_add_sync(unsigned mask, unsigned value, Location = Location::current());
unsigned __reduce_min_sync(unsigned mask, unsigned value, Location = Location::current());
unsigned __reduce_max_sync(unsigned mask, unsigned value, Location = Location::current());
int __reduce_add_sync(unsigned mask, int value, Location = Location::current());
int __reduce_min_sync(unsigned mask, int value, Location = Location::current());
int __reduce_max_sync(unsigned mask, int value, Location = Location::current());
unsigned __reduce_and_sync(unsigned mask, unsigned value, Location = Location::current());
unsigned __reduce_or_sync(unsigned mask, unsigned value, Location = Location::current());
unsigned __reduce_xor_sync(unsigned mask, unsigned value, Location = Location::current());
// There is no __activemask(): which lanes run together is not defined, and a kernel must not depend on it.

// A static variable in shared memory, between guard zones, filled with 0xFF (a NaN) as each block begins.
constexpr size_t kGuard = 64;
void enter_shared(uint64_t* block, void* data, size_t bytes, const char* name);
extern uint64_t current_block;  // a number that no other block of any launch has; not 0

template <class T>
struct SharedVariable {
  static_assert(std::is_trivially_default_constructible_v<T>, "nothing runs constructors in shared memory");
  alignas(64) unsigned char before[kGuard];
  alignas(16) T data;
  unsigned char behind[kGuard];
  uint64_t block;  // that entered it last; 0 at first, as all of a static variable

  EMU_UNCHECKED __attribute__((noinline)) T& enter(const char* name) {
    if (block != current_block) enter_shared(&block, &data, sizeof data, name);
    return data;
  }
};

void* dynamic_shared();  // of the running block, 16-byte aligned

}  // namespace emu
