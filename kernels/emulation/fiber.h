#pragma once
#include <cstddef>
#include <cstdint>

#ifdef EMU_UCONTEXT
#include <ucontext.h>
#endif

// Stacks on which the threads of a block run, one at a time, and the way from one to another.
namespace emu {

constexpr size_t kStackBytes = 64 << 10;
// Below it, where any access faults. One page more than a power of two: stacks so apart share no sets of the caches.
constexpr size_t kStackGuard = 68 << 10;

struct Fiber {
  std::byte* stack = nullptr;  // its lowest byte
  size_t bytes = 0;
#ifdef EMU_UCONTEXT
  ucontext_t context;
#else
  void* stack_pointer = nullptr;
#endif
};

extern Fiber* running_fiber;  // null while the host's own code runs

// What a fiber does from its beginning on; it never returns.
void set_fiber_body(void (*body)());
Fiber* take_fiber();
void give_back_fiber(Fiber*);     // it may go on to run until it switches
void forget_stack(const Fiber&);  // what functions left there is no more
void reset_fibers();              // of all, which begin anew
void switch_to_fiber(Fiber*);
void switch_to_host();
const Fiber* fiber_of_stack(const void*);  // or of its guard; null: of none
uint64_t count_switches();

}  // namespace emu
