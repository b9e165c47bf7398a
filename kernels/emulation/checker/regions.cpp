#include <cstdarg>
#include <cstdio>
#include <map>
#include <memory>

#include "../launch_state.h"
#include "../state.h"
#include "checker.h"

// What an address that a kernel uses belongs to.
namespace emu::checker {
namespace {

using Regions = std::map<uintptr_t, std::unique_ptr<Region>>;

Regions& global_regions() {
  static auto& regions = *new Regions;  // by the address that the host knows; memory may be freed as the program ends
  return regions;
}
Regions& shared_regions() {
  static auto& regions = *new Regions;
  return regions;
}
Region dynamic_region;

uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
const void* pointer(uintptr_t address) { return reinterpret_cast<const void*>(address); }

Region& region_of(const Allocation& allocation) {
  std::unique_ptr<Region>& region = global_regions()[allocation.begin];
  if (!region) {
    region = std::make_unique<Region>();
    region->begin = number(device_view(pointer(allocation.begin)));
    region->global = true;
    region->name = "global memory";
    region->set_bytes(allocation.bytes);
  }
  return *region;
}

void begin_block(Region& region) {
  const auto block = static_cast<uint32_t>(position.block);
  if (region.block == block) return;
  region.block = block;
  region.set_unwritten();
}

Region& shared_region(uintptr_t begin, size_t bytes, const std::string& name) {
  std::unique_ptr<Region>& region = shared_regions()[begin];
  if (!region) {
    region = std::make_unique<Region>();
    region->begin = begin;
    region->name = name;
    region->set_bytes(bytes);
  }
  return *region;
}

// A fault that leaves nothing to go on with.
[[noreturn]] __attribute__((format(printf, 2, 3))) void illegal(const Site& site, const char* format, ...) {
  if (fault_count() > 0) {  // only the first text is kept
    fault(cudaErrorIllegalAddress, "illegal access");
  } else {
    char text[512];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fault(cudaErrorIllegalAddress, "%s %u bytes at %s: %s", verb_of(site.kind), site.bytes,
          source_place(site.code).c_str(), text);
  }
  abandon_block();
}

Region* find_global(uintptr_t address, size_t bytes, const Site& site) {
  const Allocation* const allocation = find_allocation(host_view(pointer(address)));
  if (!allocation) illegal(site, "global memory that was never allocated");
  Region& region = region_of(*allocation);
  if (!allocation->live) illegal(site, "%s, which was freed", region.describe(address).c_str());
  if (!region.contains(address, bytes)) illegal(site, "%s", region.describe(address).c_str());
  if (allocation->device != position.device) {
    illegal(site, "%s on device %d, the kernel runs on device %d", region.describe(address).c_str(), allocation->device,
            position.device);
  }
  return &region;
}

// Far enough to find what an index that is off by some rows hits.
constexpr uintptr_t kNear = 64;
bool is_near(const Region& region, uintptr_t address) {
  return address + kNear >= region.begin && address < region.begin + region.bytes + kNear;
}

Region* find_shared(uintptr_t address, size_t bytes, const Site& site) {
  if (dynamic_region.contains(address, 1)) {
    if (!dynamic_region.contains(address, bytes)) illegal(site, "%s", dynamic_region.describe(address).c_str());
    return &dynamic_region;
  }
  Regions& regions = shared_regions();
  const auto above = regions.upper_bound(address);
  if (above != regions.begin()) {
    Region& region = *std::prev(above)->second;
    if (region.contains(address, bytes)) {
      begin_block(region);
      return &region;
    }
    if (is_near(region, address)) illegal(site, "%s", region.describe(address).c_str());
  }
  if (above != regions.end() && is_near(*above->second, address)) {
    illegal(site, "%s", above->second->describe(address).c_str());
  }
  return nullptr;
}

// What is left: constants, variables of the program, and what no kernel may touch.
Region* find_elsewhere(uintptr_t address, size_t bytes, const Site& site) {
  // Behind dynamic shared memory there is more of the same, which other launches use.
  if (dynamic_region.begin != 0 && address + kNear >= dynamic_region.begin &&
      address < dynamic_region.begin + kSharedLimit) {
    illegal(site, "%s", dynamic_region.describe(address).c_str());
  }
  const ProgramVariable variable = find_program_variable(address);
  if (variable.kind == ProgramVariable::Kind::shared) {  // __shared__ without EMU_SHARED
    Region& region = shared_region(variable.begin, variable.bytes, "shared memory " + variable.name);
    if (!region.contains(address, bytes)) illegal(site, "%s", region.describe(address).c_str());
    begin_block(region);
    return &region;
  }
  if (variable.kind == ProgramVariable::Kind::constant) {
    if (site.kind == AccessKind::load) return nullptr;
    illegal(site, "constant memory %s", variable.name.c_str());
  }
  if (variable.kind == ProgramVariable::Kind::host) illegal(site, "host memory, variable %s", variable.name.c_str());
  if (on_stack_of_any_thread(pointer(address))) illegal(site, "a local variable of another thread");
  if (address < 4096) illegal(site, "a null pointer");
  if (is_host_view(pointer(address))) {
    illegal(site, "global memory, through a pointer that the kernel did not get as an argument");
  }
  illegal(site, "host memory at %p", pointer(address));
}

}  // namespace

Region* find_region(uintptr_t address, size_t bytes, const Site& site) {
  const void* const data = pointer(address);
  if (on_stack_of_running_thread(data)) return nullptr;
  if (is_device_view(data)) return find_global(address, bytes, site);
  if (Region* const region = find_shared(address, bytes, site)) return region;
  if (is_model_state(data)) return nullptr;
  if (Range{position.arguments, position.arguments + position.argument_bytes}.contains(data)) return nullptr;
  return find_elsewhere(address, bytes, site);
}

}  // namespace emu::checker

namespace emu {

using namespace checker;

void checker_block_begins() {
  begin_block_of_races();
  const Range range = dynamic_shared_range();
  const auto bytes = static_cast<size_t>(range.end - range.begin);
  if (dynamic_region.begin != number(range.begin) || dynamic_region.bytes != bytes) {
    dynamic_region.begin = number(range.begin);
    dynamic_region.name = "dynamic shared memory";
    dynamic_region.set_bytes(bytes);
    forget_found_regions();
  }
  dynamic_region.set_unwritten();
}

void checker_allocated(const Allocation& allocation) {
  global_regions().erase(allocation.begin);
  region_of(allocation);
}

void checker_freed(const Allocation& allocation) {
  global_regions().erase(allocation.begin);
  forget_found_regions();
}

void checker_written(const void* device_data, size_t bytes) {
  if (bytes == 0) return;
  const Allocation* const allocation = find_allocation(host_view(device_data));
  if (!allocation) return;
  Region& region = region_of(*allocation);
  const auto address = number(device_data);
  if (region.contains(address, bytes)) region.set_written(address - region.begin, bytes);
}

void checker_shared_begins(const void* data, size_t bytes, const char* name) {
  if (data == dynamic_shared_range().begin) return;  // checker_block_begins sees to it
  begin_block(shared_region(number(data), bytes, std::string("shared memory ") + name));
}

}  // namespace emu
