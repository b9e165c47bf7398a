#include <algorithm>
#include <bit>
#include <cstring>

#include "block.h"
#include "state.h"

namespace emu {

WarpMeeting warp_meetings[kMaxThreads];

namespace {

// Meetings of a warp at which not all lanes have arrived.
struct Waiting {
  WarpMeeting* meetings[32];
  int count;
};
Waiting waiting[kMaxWarps];
WarpMeeting* free_meetings[kMaxThreads];
int free_count = -1;

WarpMeeting* open_meeting(unsigned mask, const char* operation, Location at) {
  if (free_count < 0) reset_warps();
  WarpMeeting* const meeting = free_meetings[--free_count];
  meeting->mask = mask;
  meeting->arrived = 0;
  meeting->still_here = std::popcount(mask);
  meeting->operation = operation;
  meeting->location = at;
  return meeting;
}

unsigned lanes_of_warp(int warp) {
  const unsigned lanes = position.threads - static_cast<unsigned>(warp) * 32;
  return lanes >= 32 ? ~0u : (1u << lanes) - 1;
}

void all_arrived(Waiting& here, int index, int warp) {
  WarpMeeting* const meeting = here.meetings[index];
  here.meetings[index] = here.meetings[--here.count];
  checker_warp_meets(warp, meeting->mask, same_text(meeting->operation, "__syncwarp"));
  uint16_t threads[32];
  int count = 0;
  for (unsigned rest = meeting->mask; rest != 0; rest &= rest - 1) {
    threads[count++] = static_cast<uint16_t>(warp * 32 + std::countr_zero(rest));
  }
  make_ready(threads, count);
}

}  // namespace

int lane() { return position.thread & 31; }

WarpMeeting* meet(unsigned mask, const void* bring, size_t bytes, const char* operation, Location at) {
  const ModelCode in_model;
  const int warp = position.thread >> 5;
  const int me = lane();
  mask &= lanes_of_warp(warp);  // lanes that the block does not have are taken for lanes that don't matter
  if (!(mask >> me & 1)) {
    fault(cudaErrorLaunchFailure, "%s at %s:%u: the mask %08x lacks the calling lane %d", operation, at.file, at.line,
          mask, me);
    abandon_block();
  }
  Waiting& here = waiting[warp];
  int index = 0;
  while (index < here.count && here.meetings[index]->mask != mask) ++index;
  if (index == here.count) here.meetings[here.count++] = open_meeting(mask, operation, at);
  WarpMeeting* const meeting = here.meetings[index];
  if (!same_place(meeting->location, at) || !same_text(meeting->operation, operation)) {
    fault(cudaErrorLaunchFailure, "lanes of a warp meet in different operations: %s at %s:%u and %s at %s:%u",
          meeting->operation, meeting->location.file, meeting->location.line, operation, at.file, at.line);
    abandon_block();
  }
  if (bytes == 4) {
    std::memcpy(meeting->brought[me], bring, 4);
  } else {
    std::memcpy(meeting->brought[me], bring, bytes);
  }
  meeting->arrived |= 1u << me;
  block_threads[position.thread].state = ThreadState::in_warp;
  if (meeting->arrived == mask) all_arrived(here, index, warp);
  wait_as(ThreadState::in_warp);
  return meeting;
}

void leave(WarpMeeting* meeting) {
  if (--meeting->still_here == 0) free_meetings[free_count++] = meeting;
}

void reset_warps() {
  for (Waiting& each : waiting) each.count = 0;
  for (int i = 0; i < kMaxThreads; ++i) free_meetings[i] = &warp_meetings[i];
  free_count = kMaxThreads;
}

bool describe_waiting_warp() {
  for (int warp = 0; warp < kMaxWarps; ++warp) {
    if (waiting[warp].count == 0) continue;
    const WarpMeeting& meeting = *waiting[warp].meetings[0];
    const unsigned missing = meeting.mask & ~meeting.arrived;
    const bool others = waiting[warp].count > 1;
    fault(cudaErrorLaunchFailure, "%s at %s:%u in warp %d waits for the lanes %08x, of which %08x did not come%s%s",
          meeting.operation, meeting.location.file, meeting.location.line, warp, meeting.mask, missing,
          (missing & lanes_left(warp)) == missing ? ": they have left the kernel" : "",
          others ? ": other lanes of the warp wait with another mask" : "");
    return true;
  }
  return false;
}

namespace {

// Folds what all lanes of the mask bring.
template <class T, class F>
T fold(unsigned mask, T value, const char* operation, Location at, F combine) {
  WarpMeeting* const meeting = meet(mask, &value, sizeof value, operation, at);
  T result{};
  bool first = true;
  for (unsigned rest = meeting->mask; rest != 0; rest &= rest - 1) {
    T each;
    std::memcpy(&each, meeting->brought[std::countr_zero(rest)], sizeof each);
    result = first ? each : combine(result, each);
    first = false;
  }
  leave(meeting);
  return result;
}

constexpr auto kBitwiseOr = [](unsigned a, unsigned b) { return a | b; };
constexpr auto kSum = [](unsigned a, unsigned b) { return a + b; };
constexpr auto kSmaller = [](auto a, auto b) { return std::min(a, b); };
constexpr auto kLarger = [](auto a, auto b) { return std::max(a, b); };

unsigned vote(unsigned mask, int predicate, const char* operation, Location at) {
  return fold(mask, predicate != 0 ? 1u << lane() : 0u, operation, at, kBitwiseOr);
}

}  // namespace

unsigned __ballot_sync(unsigned mask, int predicate, Location at) { return vote(mask, predicate, "__ballot_sync", at); }

int __any_sync(unsigned mask, int predicate, Location at) { return vote(mask, predicate, "__any_sync", at) != 0; }

int __all_sync(unsigned mask, int predicate, Location at) { return vote(mask, predicate == 0, "__all_sync", at) == 0; }

unsigned __match_any_sync(unsigned mask, unsigned value, Location at) {
  WarpMeeting* const meeting = meet(mask, &value, sizeof value, "__match_any_sync", at);
  unsigned result = 0;
  for (unsigned rest = meeting->mask; rest != 0; rest &= rest - 1) {
    const int each = std::countr_zero(rest);
    if (std::memcmp(meeting->brought[each], &value, sizeof value) == 0) result |= 1u << each;
  }
  leave(meeting);
  return result;
}

unsigned __reduce_add_sync(unsigned mask, unsigned value, Location at) {
  return fold(mask, value, "__reduce_add_sync", at, kSum);
}
unsigned __reduce_min_sync(unsigned mask, unsigned value, Location at) {
  return fold(mask, value, "__reduce_min_sync", at, kSmaller);
}
unsigned __reduce_max_sync(unsigned mask, unsigned value, Location at) {
  return fold(mask, value, "__reduce_max_sync", at, kLarger);
}
int __reduce_add_sync(unsigned mask, int value, Location at) {
  return static_cast<int>(fold(mask, static_cast<unsigned>(value), "__reduce_add_sync", at, kSum));
}
int __reduce_min_sync(unsigned mask, int value, Location at) {
  return fold(mask, value, "__reduce_min_sync", at, kSmaller);
}
int __reduce_max_sync(unsigned mask, int value, Location at) {
  return fold(mask, value, "__reduce_max_sync", at, kLarger);
}
unsigned __reduce_and_sync(unsigned mask, unsigned value, Location at) {
  return fold(mask, value, "__reduce_and_sync", at, [](unsigned a, unsigned b) { return a & b; });
}
unsigned __reduce_or_sync(unsigned mask, unsigned value, Location at) {
  return fold(mask, value, "__reduce_or_sync", at, kBitwiseOr);
}
unsigned __reduce_xor_sync(unsigned mask, unsigned value, Location at) {
  return fold(mask, value, "__reduce_xor_sync", at, [](unsigned a, unsigned b) { return a ^ b; });
}

}  // namespace emu
