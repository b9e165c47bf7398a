#pragma once
#include <cstddef>

namespace emu {

// Of sm_75.
constexpr size_t kStaticSharedLimit = 48 << 10;  // and of all shared memory, unless a kernel asks for more
constexpr size_t kSharedLimit = 64 << 10;

// shared_memory.cpp
void shared_memory_of_launch(size_t dynamic_bytes, size_t limit);
void shared_memory_begins();  // of a block
void shared_memory_ends();

// registers.cpp: what a thread of the kernel has, 0 where it is not known.
int registers_of(const void* kernel);

}  // namespace emu
