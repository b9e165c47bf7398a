#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What a test asks of the model beyond CUDA. Settings hold for the whole process and may be changed between launches.
namespace emu {

// In which order the threads of a block, and the blocks of a grid, run. A kernel whose result depends on it is wrong.
// EMU_ORDER=forward, reverse or random sets both as the program starts.
enum class Order { forward, reverse, random };
void set_thread_order(Order, uint64_t seed = 1);
void set_block_order(Order, uint64_t seed = 1);

// Deferred: what is put into a stream runs only when the host waits for it, streams in random order as far as events
// allow; a missing wait then gives a wrong result. Eager: it runs at the call. EMU_STREAMS=eager or deferred, the
// default.
void set_deferred(bool, uint64_t seed = 1);

void set_device_count(int);                // EMU_DEVICES; 2. Before any other call
void set_device_memory(size_t bytes);      // of each; EMU_MEMORY; 8 GiB
void set_exit_before_barrier_fault(bool);  // on: a barrier waits for threads that have left. Volta's does not

// A fault is what no correct program does: a host pointer given to a kernel, a divergent barrier, a race. The first is
// kept as text; further ones are counted.
int fault_count();
std::string first_fault();
void clear_faults();          // also the sticky error
void set_print_faults(bool);  // the first to standard error; on

uint64_t switch_count();  // from one thread of a block to another, so far

bool checked();  // whether this is the build that sees every load and store

// Checked build: what the warps did at one line of a source, over all launches since clear_traffic().
struct LineTraffic {
  std::string kernel, file;
  int line = 0;
  enum class Memory { global, shared } memory = Memory::global;
  bool store = false;
  int64_t requests = 0;        // of a warp
  int64_t lanes = 0;           // that took part, over all requests
  int64_t possible_lanes = 0;  // that the warps have
  int64_t sectors = 0;         // of 32 bytes, global: what was moved
  int64_t ideal_sectors = 0;   // what the bytes used would fill
  int64_t wavefronts = 0;      // shared: passes that the banks took
  int64_t ideal_wavefronts = 0;
};
std::vector<LineTraffic> traffic();
void clear_traffic();

// The lines of traffic() that move more than `limit` times the ideal, one text each; empty for a good kernel. A line
// whose comment says "emu: " and a reason is left out.
std::vector<std::string> wasteful_lines(double limit = 1.25);

// Registers of a kernel as `nvcc -Xptxas -v` gives them: launches with more threads than the device has registers for
// are then refused. Lines "mangled_name,registers". EMU_REGISTERS names such a file from the start.
void load_register_counts(const std::string& csv_file);

}  // namespace emu
