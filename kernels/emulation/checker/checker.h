#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <emulation/atomics.h>

#include "shadow.h"

// The checked build. Kernels are compiled with -fsanitize=thread, and hooks.cpp is what they call at each load and
// store: they are checked against the shadow memory (regions, races) and counted (traffic).
namespace emu::checker {

// hooks.cpp. Of the same instruction, structures that are copied in pieces have one for each.
struct Site {
  uintptr_t code = 0;  // within the instruction that made the call
  uint32_t bytes = 0;  // of an access
  AccessKind kind = AccessKind::load;
  Region* region = nullptr;  // that it found last
};
extern Site sites[1 << 16];

// regions.cpp
void forget_found_regions();
// Null: the access needs no check. Does not return if it is illegal.
Region* find_region(uintptr_t address, size_t bytes, const Site&);

// program.cpp. What a variable of the program is to a kernel.
struct ProgramVariable {
  enum class Kind { none, constant, shared, host } kind = Kind::none;
  uintptr_t begin = 0;
  size_t bytes = 0;
  std::string name;
};
ProgramVariable find_program_variable(uintptr_t address);

// races.cpp
void check_races(Region&, uintptr_t address, size_t bytes, AccessKind, SiteId);
void begin_launch_of_races();
void begin_block_of_races();
void order_warp(int warp, unsigned mask);
void note_global_atomic(uintptr_t address);

// traffic.cpp
void log_access(uintptr_t address, bool shared, SiteId);
void begin_launch_of_traffic();
void flush_warp(int warp);
void flush_traffic();

// requests.cpp. What a warp asks for at once: the addresses of those lanes that take part.
struct Request {
  unsigned lanes = 0;
  uintptr_t addresses[32];
};
struct Cost {
  int needed = 0, moved = 0;
};
Cost count_sectors(const Request&, unsigned bytes);     // of global memory
Cost count_wavefronts(const Request&, unsigned bytes);  // of shared memory

// Texts of faults.
std::string place_of(SiteId);
const char* verb_of(AccessKind);  // "reads"

}  // namespace emu::checker
