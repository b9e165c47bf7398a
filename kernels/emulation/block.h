#pragma once
#include <cstdint>
#include <cstring>

#include "fiber.h"

#include <cuda_runtime.h>

// The threads of the block that runs. A fiber runs thread after thread; only where a thread waits, another fiber is
// taken for the threads that have not begun. So a kernel without barriers is a plain loop.
namespace emu {

constexpr int kMaxThreads = 1024;
constexpr int kMaxWarps = kMaxThreads / 32;

enum class ThreadState : uint8_t { running, at_barrier, in_warp, ready, left };

struct Thread {
  uint3 index;
  Fiber* fiber;
  ThreadState state;
};
extern Thread block_threads[kMaxThreads];

// For all blocks of a launch.
void shape_blocks(dim3 block, void (*run_thread)(void*), void* arguments);
// False: a fault ended it.
bool run_block();

// Texts that the compiler wrote may be at several addresses, but mostly are not.
inline bool same_text(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }
inline bool same_place(Location a, Location b) { return a.line == b.line && same_text(a.file, b.file); }

// The running thread waits until make_ready() names it and its turn comes.
void wait_as(ThreadState);
void make_ready(const uint16_t* threads, int count);
unsigned lanes_left(int warp);  // which have left the kernel

// warp.cpp
extern WarpMeeting warp_meetings[kMaxThreads];  // a thread is in one at most
void reset_warps();
bool describe_waiting_warp();  // a fault for one that waits, if any does

}  // namespace emu
