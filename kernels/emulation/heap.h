#pragma once
#include "state.h"

// Device memory. Each device has a reserve of addresses, none of which is handed out twice. It is mapped in two views:
// the host's, which nobody may touch, and the kernels'. Each allocation has pages of its own, which nobody may touch
// either before it begins and once it is freed; what pages it does not fill is checked when it is freed.
namespace emu {

constexpr int kMostDevices = 8;

// Null where the device has no more.
void* allocate(int device, size_t bytes);
// The same in two steps: in between the address is known, and nobody may use it.
void* book(int device, size_t bytes);
bool make_usable(void* host_view);
// False, and nothing done, unless the pointer is the begin of a live allocation.
bool release(void* host_view);
void release_all(int device);

// Of a live allocation: whether cudaFreeAsync was called for it.
bool mark_for_release(void* host_view);

size_t memory_in_use(int device);
size_t memory_of_device();

// What is wrong with these bytes of device memory, as text; empty where they lie in one live allocation. What an
// operation uses as it runs must be usable too.
std::string range_problem(const void* host_view, size_t bytes);

}  // namespace emu
