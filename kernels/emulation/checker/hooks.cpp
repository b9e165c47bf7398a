#include <cstring>

#include "../state.h"
#include "checker.h"

// What kernels call at each load and store.
namespace emu::checker {

Site sites[1 << 16];

namespace {

// Only the host thread that runs the launch; others run host code of the same sources meanwhile.
thread_local bool in_launch __attribute__((tls_model("initial-exec"))) = false;

// Site numbers by code address and, as one call may be about several accesses, their kind and the piece's number.
struct Slot {
  uintptr_t key = 0;
  SiteId site = 0;
};
constexpr size_t kSlots = 1 << 18;
Slot slots[kSlots];
uint32_t used_sites = 1;

SiteId site_of(uintptr_t code, unsigned piece, unsigned bytes, AccessKind kind) {
  const uintptr_t key = code ^ static_cast<uintptr_t>(4 * piece + 1 + static_cast<unsigned>(kind)) << 48;
  for (size_t i = key * 0x9E3779B97F4A7C15 >> 46;; i = (i + 1) % kSlots) {
    if (slots[i].key == key) return slots[i].site;
    if (slots[i].key != 0) continue;
    if (used_sites == std::size(sites)) return 0;
    slots[i] = {key, static_cast<SiteId>(used_sites)};
    sites[used_sites] = {code, bytes, kind, nullptr};
    return static_cast<SiteId>(used_sites++);
  }
}

[[noreturn]] void misaligned(const Site& site, const Region& region, uintptr_t address) {
  fault(cudaErrorIllegalAddress, "%s %u bytes at %s from an address that is not a multiple of %u: %s",
        verb_of(site.kind), site.bytes, source_place(site.code).c_str(), site.bytes, region.describe(address).c_str());
  abandon_block();
}

// A structure can have bytes that nothing writes: a word with a byte that was written is taken for such a case.
bool is_written(const Region& region, size_t offset, size_t bytes) {
  if (region.is_written(offset, bytes)) return true;
  if (bytes <= 4) return false;
  for (size_t word = 0; word < bytes; word += 4) {
    bool any = false;
    for (size_t i = 0; i < 4; ++i) any = any || region.is_written(offset + word + i, 1);
    if (!any) return false;
  }
  return true;
}

void check_written(Region& region, uintptr_t address, size_t bytes, const Site& site) {
  const size_t offset = address - region.begin;
  if (is_written(region, offset, bytes)) return;
  if (fault_count() > 0) {  // only the first text is kept
    fault(cudaSuccess, "not written");
  } else {
    fault(cudaSuccess, "reads what nothing has written: %s at %s", region.describe(address).c_str(),
          source_place(site.code).c_str());
  }
  region.set_written(offset, bytes);
}

struct Call {
  uintptr_t address;
  unsigned bytes;
  AccessKind kind;
  const void* caller;
  unsigned piece = 0;
  bool aligned = true;       // or the compiler knows no better
  bool may_be_hole = false;  // of a structure
};

void see(const Call& call) {
  const ModelCode in_model;
  const auto [address, bytes, kind, caller, piece, aligned, may_be_hole] = call;
  const SiteId id = site_of(reinterpret_cast<uintptr_t>(caller) - 1, piece, bytes, kind);
  Site& site = sites[id];
  if (id == 0) site = {reinterpret_cast<uintptr_t>(caller) - 1, bytes, kind, nullptr};  // there were too many
  if (!site.region || !site.region->contains(address, bytes)) {
    Region* const found = find_region(address, bytes, site);
    if (!found) return;
    site.region = found;
  }
  Region& region = *site.region;
  if (aligned && (address & (bytes - 1)) != 0) misaligned(site, region, address);
  if (kind != AccessKind::store && !may_be_hole) check_written(region, address, bytes, site);
  if (kind != AccessKind::load) region.set_written(address - region.begin, bytes);
  check_races(region, address, bytes, kind, id);
  if (kind == AccessKind::atomic && region.global) note_global_atomic(address);
  if (id != 0) log_access(address, !region.global, id);
}

// A structure that is copied whole. The device does it in the largest pieces that its alignment allows.
void see_range(uintptr_t address, size_t bytes, AccessKind kind, const void* caller) {
  unsigned size = 16;
  while (size > 1 && (bytes % size != 0 || address % size != 0)) size /= 2;
  unsigned piece = 0;
  for (size_t done = 0; done < bytes; done += size, ++piece) {
    see({address + done, size, kind, caller, piece, false, true});
  }
}

bool is_kernel() { return in_launch && kernel_code_runs; }

}  // namespace

void forget_found_regions() {
  for (uint32_t i = 0; i < used_sites; ++i) sites[i].region = nullptr;
}

std::string place_of(SiteId id) { return id == 0 ? "an unknown place" : source_place(sites[id].code); }

const char* verb_of(AccessKind kind) {
  return kind == AccessKind::load ? "reads" : kind == AccessKind::store ? "writes" : "changes atomically";
}

}  // namespace emu::checker

namespace emu {

using namespace checker;

void note_access(const void* data, unsigned bytes, AccessKind kind, const void* caller) {
  if (is_kernel()) see({reinterpret_cast<uintptr_t>(data), bytes, kind, caller});
}

void checker_launch_begins() {
  in_launch = true;
  forget_found_regions();
  begin_launch_of_races();
  begin_launch_of_traffic();
}

void checker_launch_ends() { in_launch = false; }

void checker_block_ends() { flush_traffic(); }

void checker_warp_meets(int warp, unsigned mask, bool orders_memory) {
  if (orders_memory) order_warp(warp, mask);
  const unsigned lanes = position.threads - static_cast<unsigned>(warp) * 32;
  if (mask == (lanes >= 32 ? ~0u : (1u << lanes) - 1)) flush_warp(warp);
}

bool checked() { return true; }

}  // namespace emu

#define EMU_HOOK(name, bytes, kind, aligned)                                                                      \
  extern "C" void __tsan_##name(void* data) {                                                                     \
    if (!emu::checker::is_kernel()) return;                                                                       \
    emu::checker::see({reinterpret_cast<uintptr_t>(data), bytes, kind, __builtin_return_address(0), 0, aligned}); \
  }
#define EMU_HOOKS(bytes)                                               \
  EMU_HOOK(read##bytes, bytes, emu::AccessKind::load, true)            \
  EMU_HOOK(write##bytes, bytes, emu::AccessKind::store, true)          \
  EMU_HOOK(unaligned_read##bytes, bytes, emu::AccessKind::load, false) \
  EMU_HOOK(unaligned_write##bytes, bytes, emu::AccessKind::store, false)
EMU_HOOKS(1)
EMU_HOOKS(2)
EMU_HOOKS(4)
EMU_HOOKS(8)
EMU_HOOKS(16)

extern "C" {

void __tsan_read_range(void* data, size_t bytes) {
  if (!emu::checker::is_kernel()) return;
  emu::checker::see_range(reinterpret_cast<uintptr_t>(data), bytes, emu::AccessKind::load, __builtin_return_address(0));
}

void __tsan_write_range(void* data, size_t bytes) {
  if (!emu::checker::is_kernel()) return;
  emu::checker::see_range(reinterpret_cast<uintptr_t>(data), bytes, emu::AccessKind::store,
                          __builtin_return_address(0));
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
