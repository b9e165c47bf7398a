#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>

#include <emulation/control.h>

#include "../state.h"
#include "checker.h"

// What the warps ask of memory. Lanes run one after the other here, so each thread keeps a log of its accesses, and
// when a barrier or a meeting of the whole warp opens, or the block ends, the logs of a warp are put together: the n-th
// time that lanes came by an instruction is one request. That is what the device does where the lanes go through the
// same iterations; lanes that leave some out are counted with a later one.
namespace emu::checker {
namespace {

// Of what a thread does between two barriers, no more than this is counted.
constexpr uint32_t kMostLogged = 1 << 14;
constexpr int kThreads = 1024;

using Entry = uint64_t;  // site, whether it is shared memory, address
constexpr Entry kShared = Entry{1} << 47;
SiteId site_of(Entry entry) { return static_cast<SiteId>(entry >> 48); }
uintptr_t address_of(Entry entry) { return entry & (kShared - 1); }
unsigned counter_of(Entry entry) { return static_cast<unsigned>(entry >> 47); }  // site and kind of memory

Entry* logs;  // of each thread, one behind the other
uint32_t logged[kThreads];
uint32_t barriers;  // up to which the logs have been put together
bool any_logged;

// By counter_of(). Of each kernel.
struct Counts {
  int64_t requests = 0, lanes = 0, possible_lanes = 0, needed = 0, moved = 0;
};
using KernelCounts = std::vector<Counts>;
auto& counts_of_kernels = *new std::map<const void*, KernelCounts>;
KernelCounts* counts;

void count_request(const Request& request, Entry entry, int warp_lanes) {
  const unsigned index = counter_of(entry);
  if (counts->size() <= index) counts->resize(std::max<size_t>(index + 1, 2 * counts->size()));
  Counts& sum = (*counts)[index];
  const unsigned bytes = sites[site_of(entry)].bytes;
  const Cost cost = entry & kShared ? count_wavefronts(request, bytes) : count_sectors(request, bytes);
  ++sum.requests;
  sum.lanes += std::popcount(request.lanes);
  sum.possible_lanes += warp_lanes;
  sum.needed += cost.needed;
  sum.moved += cost.moved;
}

struct Warp {
  const Entry* logs[32];
  uint32_t logged[32];
  int lanes;  // that it has
};

// As long as the lanes came by the same instructions. Returns where they part.
uint32_t join_alike(const Warp& warp) {
  for (uint32_t i = 0;; ++i) {
    Request request;
    Entry first = 0;
    for (int lane = 0; lane < warp.lanes; ++lane) {
      if (warp.logged[lane] <= i) continue;
      const Entry entry = warp.logs[lane][i];
      if (request.lanes == 0) first = entry;
      if (counter_of(entry) != counter_of(first)) return i;
      request.lanes |= 1u << lane;
      request.addresses[lane] = address_of(entry);
    }
    if (request.lanes == 0) return i;
    count_request(request, first, warp.lanes);
  }
}

void join_by_instruction(const Warp& warp, uint32_t begin) {
  static auto& requests = *new std::unordered_map<unsigned, std::vector<Request>>;  // by counter_of()
  static auto& times = *new std::unordered_map<unsigned, uint32_t>;                 // that the lane came by
  for (int lane = 0; lane < warp.lanes; ++lane) {
    times.clear();
    for (uint32_t i = begin; i < warp.logged[lane]; ++i) {
      const Entry entry = warp.logs[lane][i];
      const uint32_t time = times[counter_of(entry)]++;
      std::vector<Request>& here = requests[counter_of(entry)];
      if (here.size() <= time) here.emplace_back();
      here[time].lanes |= 1u << lane;
      here[time].addresses[lane] = address_of(entry);
    }
  }
  for (auto& [counter, list] : requests) {
    for (const Request& request : list) count_request(request, Entry{counter} << 47, warp.lanes);
  }
  requests.clear();
}

}  // namespace

void log_access(uintptr_t address, bool shared, SiteId site) {
  if (position.barriers != barriers) {
    flush_traffic();
    barriers = position.barriers;
  }
  const int thread = position.thread;
  if (logged[thread] == kMostLogged) return;
  const Entry entry = static_cast<Entry>(site) << 48 | (shared ? kShared : 0) | (address & (kShared - 1));
  logs[static_cast<size_t>(thread) * kMostLogged + logged[thread]++] = entry;
  any_logged = true;
}

void begin_launch_of_traffic() {
  if (!logs) {
    void* const memory = mmap(nullptr, sizeof(Entry) * kMostLogged * kThreads, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    logs = static_cast<Entry*>(memory);
  }
  std::fill_n(logged, kThreads, 0);
  barriers = 0;
  any_logged = false;
  counts = &counts_of_kernels[position.kernel];
}

void flush_warp(int index) {
  const int first = index * 32;
  Warp warp;
  warp.lanes = std::min(32, static_cast<int>(position.threads) - first);
  bool any = false;
  for (int lane = 0; lane < warp.lanes; ++lane) {
    warp.logs[lane] = logs + static_cast<size_t>(first + lane) * kMostLogged;
    warp.logged[lane] = logged[first + lane];
    any = any || warp.logged[lane] > 0;
    logged[first + lane] = 0;
  }
  if (any) join_by_instruction(warp, join_alike(warp));
}

void flush_traffic() {
  if (any_logged) {
    for (int warp = 0; warp * 32 < static_cast<int>(position.threads); ++warp) flush_warp(warp);
  }
  any_logged = false;
  barriers = 0;
}

}  // namespace emu::checker

namespace emu {

using namespace checker;

std::vector<LineTraffic> traffic() {
  const std::lock_guard lock(model_mutex());
  struct Less {
    bool operator()(const LineTraffic& a, const LineTraffic& b) const {
      return std::tie(a.file, a.line, a.kernel, a.memory, a.store) <
             std::tie(b.file, b.line, b.kernel, b.memory, b.store);
    }
  };
  std::map<LineTraffic, LineTraffic, Less> lines;
  for (const auto& [kernel, list] : counts_of_kernels) {
    const std::string name = kernel_name(kernel);
    for (unsigned i = 0; i < list.size(); ++i) {
      const Counts& counts_here = list[i];
      if (counts_here.requests == 0) continue;
      const Site& site = sites[i / 2];
      const SourceLine source = source_line(site.code);
      LineTraffic key;
      key.kernel = name;
      key.file = source.file;
      key.line = source.line;
      key.memory = i % 2 == 0 ? LineTraffic::Memory::global : LineTraffic::Memory::shared;
      key.store = site.kind != AccessKind::load;
      LineTraffic& line = lines.try_emplace(key, key).first->second;
      line.requests += counts_here.requests;
      line.lanes += counts_here.lanes;
      line.possible_lanes += counts_here.possible_lanes;
      const bool global = key.memory == LineTraffic::Memory::global;
      (global ? line.sectors : line.wavefronts) += counts_here.moved;
      (global ? line.ideal_sectors : line.ideal_wavefronts) += counts_here.needed;
    }
  }
  std::vector<LineTraffic> result;
  for (auto& [key, line] : lines) result.push_back(line);
  return result;
}

void clear_traffic() {
  const std::lock_guard lock(model_mutex());
  counts_of_kernels.clear();
}

}  // namespace emu
