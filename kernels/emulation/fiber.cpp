#include "fiber.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <emulation/qualifiers.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(EMU_UCONTEXT)
#error "no switch of stacks for this processor: compile with -DEMU_UCONTEXT"
#endif

// Keeps the registers that a call must not change on the stack that is left, and takes those of the other.
#ifndef EMU_UCONTEXT
extern "C" void emu_switch_stack(void** left, void* entered);
#ifdef __x86_64__
asm(R"(
.text
.globl emu_switch_stack
.hidden emu_switch_stack
.type emu_switch_stack, @function
emu_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emu_switch_stack, .-emu_switch_stack
)");
constexpr int kReturnWord = 6;       // of a new stack, counted from its stack pointer
constexpr int kWordsOfNewStack = 8;  // a function begins 8 bytes below a multiple of 16
#else
asm(R"(
.text
.globl emu_switch_stack
.hidden emu_switch_stack
.type emu_switch_stack, %function
emu_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size emu_switch_stack, .-emu_switch_stack
)");
constexpr int kReturnWord = 11;
constexpr int kWordsOfNewStack = 20;
#endif
#endif

namespace emu {

Fiber* running_fiber;

namespace {

Fiber host;
void (*fiber_body)();
uint64_t switches;
// Never destroyed: a fiber may be in use as the program ends, and a leak checker looks here.
auto& all_fibers = *new std::vector<Fiber*>;
auto& free_fibers = *new std::vector<Fiber*>;

#ifdef __SANITIZE_ADDRESS__
bool left_host;  // by the switch under way

void note_arrival(void* fake_stack) {
  const void* bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(fake_stack, &bottom, &bytes);
  if (!left_host) return;
  host.stack = static_cast<std::byte*>(const_cast<void*>(bottom));
  host.bytes = bytes;
}
#endif

void begin_fiber() {
#ifdef __SANITIZE_ADDRESS__
  note_arrival(nullptr);
#endif
  fiber_body();
  __builtin_trap();
}

void prepare(Fiber* fiber, size_t index) {
  // The tops of the stacks, which are what is used of them, shall not all fall into the same sets of the cache.
  const size_t offset = index % 62 * 64;
#ifdef EMU_UCONTEXT
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = fiber->bytes - offset;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, begin_fiber, 0);
#else
  void** const words = reinterpret_cast<void**>(fiber->stack + fiber->bytes - offset) - kWordsOfNewStack;
  for (int i = 0; i < kWordsOfNewStack; ++i) words[i] = nullptr;
  words[kReturnWord] = reinterpret_cast<void*>(&begin_fiber);
  fiber->stack_pointer = words;
#endif
}

Fiber* new_fiber() {
  void* const memory = mmap(nullptr, kStackGuard + kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kStackGuard, PROT_NONE) != 0) {
    std::fputs("emulation: no memory for the stack of a thread\n", stderr);
    std::abort();
  }
  auto* const fiber = new Fiber;
  fiber->stack = static_cast<std::byte*>(memory) + kStackGuard;
  fiber->bytes = kStackBytes;
  prepare(fiber, all_fibers.size());
  all_fibers.push_back(fiber);
  return fiber;
}

void switch_between(Fiber* from, Fiber* to) {
  ++switches;
#ifdef __SANITIZE_ADDRESS__
  void* fake_stack;
  left_host = from == &host;
  __sanitizer_start_switch_fiber(&fake_stack, to->stack, to->bytes);
#endif
#ifdef EMU_UCONTEXT
  swapcontext(&from->context, &to->context);
#else
  emu_switch_stack(&from->stack_pointer, to->stack_pointer);
#endif
#ifdef __SANITIZE_ADDRESS__
  note_arrival(fake_stack);
#endif
}

}  // namespace

void set_fiber_body(void (*body)()) { fiber_body = body; }

Fiber* take_fiber() {
  if (free_fibers.empty()) return new_fiber();
  Fiber* const fiber = free_fibers.back();
  free_fibers.pop_back();
  return fiber;
}

void give_back_fiber(Fiber* fiber) { free_fibers.push_back(fiber); }

void forget_stack([[maybe_unused]] const Fiber& fiber) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(fiber.stack, fiber.bytes);
#endif
}

void reset_fibers() {
  free_fibers.clear();
  for (size_t i = all_fibers.size(); i-- > 0;) {
    forget_stack(*all_fibers[i]);
    prepare(all_fibers[i], i);
    free_fibers.push_back(all_fibers[i]);
  }
}

void switch_to_fiber(Fiber* to) {
  Fiber* const from = running_fiber ? running_fiber : &host;
  running_fiber = to;
  switch_between(from, to);
}

void switch_to_host() {
  Fiber* const from = running_fiber;
  running_fiber = nullptr;
  switch_between(from, &host);
}

const Fiber* fiber_of_stack(const void* data) {
  const auto* const at = static_cast<const std::byte*>(data);
  for (const Fiber* const fiber : all_fibers) {
    if (fiber->stack - kStackGuard <= at && at < fiber->stack + fiber->bytes) return fiber;
  }
  return nullptr;
}

uint64_t count_switches() { return switches; }

}  // namespace emu
