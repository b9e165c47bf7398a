#include <emulation/async_copy.h>

#include <vector>

#include "block.h"
#include "state.h"

namespace emu {
namespace {

struct Queue {
  std::vector<AsyncCopy> copies;
  std::vector<size_t> group_ends;  // in `copies`
  size_t done = 0, groups_done = 0;
  uint64_t block = 0;
};

// Of the running thread; what an earlier block left behind is no matter.
Queue& queue() {
  static auto* const queues = new Queue[kMaxThreads];
  Queue& result = queues[position.thread];
  if (result.block != current_block) {
    result.copies.clear();
    result.group_ends.clear();
    result.done = result.groups_done = 0;
    result.block = current_block;
  }
  return result;
}

}  // namespace

void begin_async_copy(const AsyncCopy& copy) {
  const ModelCode in_model;
  const auto misaligned = [&](const void* data) { return reinterpret_cast<uintptr_t>(data) % copy.bytes != 0; };
  if (copy.from_bytes > copy.bytes || misaligned(copy.to) || misaligned(copy.from)) {
    fault(cudaErrorLaunchFailure, "cp.async of %u bytes from %p to %p, of which %u are copied", copy.bytes, copy.from,
          copy.to, copy.from_bytes);
    abandon_block();
  }
  queue().copies.push_back(copy);
}

void end_group_of_async_copies() {
  const ModelCode in_model;
  Queue& here = queue();
  here.group_ends.push_back(here.copies.size());
}

const AsyncCopy* next_async_copy(int groups) {
  const ModelCode in_model;
  Queue& here = queue();
  while (here.group_ends.size() - here.groups_done > static_cast<size_t>(groups)) {
    if (here.done < here.group_ends[here.groups_done]) return &here.copies[here.done++];
    ++here.groups_done;
  }
  if (here.groups_done == here.group_ends.size() && here.done == here.copies.size()) {
    here.copies.clear();
    here.group_ends.clear();
    here.done = here.groups_done = 0;
  }
  return nullptr;
}

}  // namespace emu
