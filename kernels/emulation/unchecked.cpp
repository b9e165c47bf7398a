// What the checked build does in checker/, in the builds that see no loads and stores: nothing.
#ifndef EMU_CHECKED
#include <cuda_runtime.h>

#include "state.h"

namespace emu {

void checker_launch_begins() {}
void checker_block_begins() {}
void checker_block_ends() {}
void checker_launch_ends() {}
void checker_warp_meets(int, unsigned, bool) {}
void checker_allocated(const Allocation&) {}
void checker_freed(const Allocation&) {}
void checker_written(const void*, size_t) {}
void checker_shared_begins(const void*, size_t, const char*) {}

bool checked() { return false; }
std::vector<LineTraffic> traffic() { return {}; }
void clear_traffic() {}
std::vector<std::string> wasteful_lines(double) { return {}; }

}  // namespace emu
#endif
