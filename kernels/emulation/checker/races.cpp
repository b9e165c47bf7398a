#include <cstring>
#include <unordered_map>

#include "../state.h"
#include "checker.h"

// Two accesses of one place, at least one of which changes it, are a race unless something orders them: the block's
// barrier, a __syncwarp() of both lanes, or, between blocks of one launch, a fence and an atomic operation before and
// an atomic operation on the same word after. Blocks run one after the other here, so only who came before matters.
namespace emu::checker {
namespace {

// The time of a warp is how many __syncwarp() it has passed, of whichever lanes.
struct Clocks {
  uint32_t now = 1;
  uint32_t all_seen = 0;       // up to when all lanes know what all have done
  uint32_t seen[32][32] = {};  // up to when a lane knows what another has done, if later
};
Clocks clocks[32];

uint32_t first_block;  // of the launch
std::vector<uint3> launched_blocks;

// Word -> blocks of this launch, counted from its first, that a fence and then an atomic operation on it released.
std::unordered_map<uintptr_t, std::vector<bool>> released;
std::vector<uintptr_t> atomics_of_block;  // kept once the launch has passed a fence
bool has_fence, block_has_fence;

Access running_access(SiteId site) {
  Access access;
  access.block = static_cast<uint32_t>(position.block);
  access.time = clocks[position.thread / 32].now;
  access.barriers = static_cast<uint16_t>(position.barriers);
  access.thread = static_cast<uint16_t>(position.thread);
  access.site = site;
  return access;
}

bool is_of_launch(uint32_t block) { return block != 0 && static_cast<int32_t>(block - first_block) >= 0; }

bool is_released_to_me(uint32_t block) {
  for (const uintptr_t word : atomics_of_block) {
    const auto found = released.find(word);
    const size_t index = block - first_block;
    if (found != released.end() && index < found->second.size() && found->second[index]) return true;
  }
  return false;
}

bool lane_is_ordered(const Access& me, unsigned lane, uint32_t time) {
  const Clocks& warp = clocks[me.thread / 32];
  return lane == me.thread % 32u || time <= warp.all_seen || time <= warp.seen[me.thread % 32][lane];
}

bool same_interval(const Access& a, const Access& b) { return a.block == b.block && a.barriers == b.barriers; }

bool same_warp(const Access& a, const Access& b) { return a.thread / 32 == b.thread / 32; }

bool other_block_is_ordered(uint32_t block, bool global) {
  return !global || !is_of_launch(block) || is_released_to_me(block);
}

bool is_ordered(const Access& before, const Access& me, bool global) {
  if (before.block != me.block) return before.block == 0 || other_block_is_ordered(before.block, global);
  if (before.barriers != me.barriers || before.thread == me.thread) return true;
  return same_warp(before, me) && lane_is_ordered(me, before.thread % 32u, before.time);
}

std::string thread_text(unsigned thread) {
  const unsigned x = thread % blockDim.x, y = thread / blockDim.x % blockDim.y, z = thread / (blockDim.x * blockDim.y);
  return "thread (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

std::string block_text(uint32_t block) {
  const size_t index = block - first_block;
  if (index >= launched_blocks.size()) return "another block";
  const uint3 at = launched_blocks[index];
  return "block (" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
}

struct Conflict {
  const Region& region;
  uintptr_t address;
  AccessKind kind;
  const Access& me;

  void report(uint32_t block, unsigned thread, SiteId site, const char* did) const {
    if (fault_count() > 0) {  // only the first text is kept
      fault(cudaSuccess, "race");
      return;
    }
    const bool other_block = block != me.block;
    const std::string who = thread_text(thread) + (other_block ? " of " + block_text(block) : "");
    const char* const missing = other_block                      ? "nothing orders the blocks of a launch"
                                : thread / 32 == me.thread / 32u ? "no __syncwarp() or barrier lies between"
                                                                 : "no barrier lies between";
    fault(cudaSuccess, "race: %s %s at %s, which %s %s at %s; %s", verb_of(kind), region.describe(address).c_str(),
          place_of(me.site).c_str(), who.c_str(), did, place_of(site).c_str(), missing);
  }
  bool unless_ordered(const Access& before, const char* did) const {
    if (is_ordered(before, me, region.global)) return false;
    report(before.block, before.thread, before.site, did);
    return true;
  }
};

bool check_atomics(const Cell& cell, const Conflict& conflict) {
  const Access &atomic = cell.atomic, &me = conflict.me;
  if (atomic.block == 0) return false;
  if (conflict.unless_ordered(atomic, "changed atomically")) return true;
  if (atomic.other == 0 || !same_interval(atomic, me)) return false;
  Access other = atomic;
  other.thread = static_cast<uint16_t>(atomic.other - 1);
  return conflict.unless_ordered(other, "changed atomically");
}

bool check_reads(const Cell& cell, const Conflict& conflict) {
  const Access &read = cell.read, &me = conflict.me;
  if (read.block == 0) return false;
  if (conflict.unless_ordered(read, "read")) return true;
  if (same_interval(read, me) && same_warp(read, me)) {
    for (unsigned rest = cell.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      if (lane_is_ordered(me, lane, read.time)) continue;
      conflict.report(me.block, me.thread / 32u * 32 + lane, read.site, "read");
      return true;
    }
  }
  if (cell.reader_block == 0) return false;
  if (cell.reader_block == me.block) {
    // Within a barrier interval, warps are never ordered.
    if (!same_interval(read, me) || cell.reader_thread / 32 == me.thread / 32) return false;
  } else if (other_block_is_ordered(cell.reader_block, conflict.region.global)) {
    return false;
  }
  conflict.report(cell.reader_block, cell.reader_thread, cell.reader_site, "read");
  return true;
}

void keep_reader(Cell& cell) {
  cell.reader_block = cell.read.block;
  cell.reader_thread = cell.read.thread;
  cell.reader_site = cell.read.site;
}

void keep_read(Cell& cell, const Access& me, bool global) {
  Access& read = cell.read;
  const unsigned bit = 1u << me.thread % 32;
  const bool has_other_block = global && cell.reader_block != me.block && is_of_launch(cell.reader_block);
  if (same_interval(read, me)) {
    if (same_warp(read, me)) {
      if (read.time != me.time) {  // who is ordered before me need not be kept
        for (unsigned rest = cell.lanes; rest != 0; rest &= rest - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
          if (lane_is_ordered(me, lane, read.time)) cell.lanes &= ~(1u << lane);
        }
      }
      cell.lanes |= bit;
    } else {
      if (!has_other_block) keep_reader(cell);
      cell.lanes = bit;
    }
  } else {
    if (global && read.block != me.block && is_of_launch(read.block)) {
      keep_reader(cell);
    } else if (!has_other_block) {
      cell.reader_block = 0;
    }
    cell.lanes = bit;
  }
  read = me;
}

void keep_atomic(Cell& cell, const Access& me) {
  uint16_t other = 0;
  if (same_interval(cell.atomic, me)) {
    other = cell.atomic.thread == me.thread ? cell.atomic.other : static_cast<uint16_t>(cell.atomic.thread + 1);
  }
  cell.atomic = me;
  cell.atomic.other = other;
}

void check_cell(Cell& cell, Region& region, uintptr_t address, AccessKind kind, const Access& me) {
  const Conflict conflict{region, address, kind, me};
  bool raced = conflict.unless_ordered(cell.write, "wrote");
  if (!raced && kind != AccessKind::atomic) raced = check_atomics(cell, conflict);
  if (!raced && kind != AccessKind::load) check_reads(cell, conflict);
  switch (kind) {
    case AccessKind::load:
      keep_read(cell, me, region.global);
      break;
    case AccessKind::store:
      // What came before is ordered before this one now, or has been reported.
      cell.write = me;
      cell.atomic.block = cell.read.block = cell.reader_block = 0;
      break;
    case AccessKind::atomic:
      keep_atomic(cell, me);
      break;
  }
}

void split(Region& region, Cell& cell) {
  if (region.parts.empty()) region.parts.emplace_back();  // number 0 means none
  cell.parts = static_cast<uint32_t>(region.parts.size());
  Cell part = cell;
  part.parts = 0;
  region.parts.push_back({part, part, part, part});
}

}  // namespace

void check_races(Region& region, uintptr_t address, size_t bytes, AccessKind kind, SiteId site) {
  const Access me = running_access(site);
  const uintptr_t first_word = region.begin / 4;
  for (uintptr_t at = address, end = address + bytes; at < end;) {
    Cell& cell = region.cells[at / 4 - first_word];
    const uintptr_t next = (at / 4 + 1) * 4;
    if (cell.parts == 0 && at % 4 == 0 && next <= end) {
      check_cell(cell, region, at, kind, me);
      at = next;
      continue;
    }
    if (cell.parts == 0) split(region, cell);
    for (; at < next && at < end; ++at) check_cell(region.parts[cell.parts][at % 4], region, at, kind, me);
  }
}

void begin_launch_of_races() {
  first_block = 0;
  launched_blocks.clear();
  released.clear();
  has_fence = false;
}

void begin_block_of_races() {
  if (launched_blocks.empty()) first_block = static_cast<uint32_t>(position.block);
  launched_blocks.push_back(blockIdx);
  atomics_of_block.clear();
  block_has_fence = false;
}

void order_warp(int warp, unsigned mask) {
  Clocks& here = clocks[warp];
  const unsigned lanes = position.threads - static_cast<unsigned>(warp) * 32;
  if (mask == (lanes >= 32 ? ~0u : (1u << lanes) - 1)) {
    here.all_seen = here.now++;
    return;
  }
  uint32_t known[32] = {};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    for (unsigned other = 0; other < 32; ++other) {
      if (known[other] < here.seen[lane][other]) known[other] = here.seen[lane][other];
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1) known[lane] = here.now;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1) std::memcpy(here.seen[lane], known, sizeof known);
  }
  ++here.now;
}

void note_global_atomic(uintptr_t address) {
  if (!has_fence) return;
  bool known = false;
  for (const uintptr_t word : atomics_of_block) known = known || word == address;
  if (!known && atomics_of_block.size() < 64) atomics_of_block.push_back(address);
  if (!block_has_fence) return;
  std::vector<bool>& blocks = released[address];
  blocks.resize(launched_blocks.size());
  blocks.back() = true;
}

}  // namespace emu::checker

namespace emu {

void note_fence() {
  if (kernel_code_runs) checker::has_fence = checker::block_has_fence = true;
}

}  // namespace emu
