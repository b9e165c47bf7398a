#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "block.h"
#include "state.h"

// An access to what is not mapped. In a kernel it ends the block with a fault, and the program goes on, as it would
// with a device. On the host it ends the program, after a message where device memory was touched.
namespace emu {
namespace {

struct sigaction previous_segv, previous_bus;
uintptr_t touched, touching_code;  // by the kernel

std::string describe(const void* data) {
  const void* const known = is_device_view(data) ? host_view(data) : data;
  char text[160];
  const Allocation* const found = is_host_view(known) ? find_allocation(known) : nullptr;
  if (found) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(known) - found->begin;
    std::snprintf(text, sizeof text, "%p, byte %zu of %s %zu bytes on device %d", known, static_cast<size_t>(offset),
                  found->live ? "an allocation of" : "what was freed of", found->bytes, found->device);
  } else {
    std::snprintf(text, sizeof text, "%p, which is in no allocation", known);
  }
  return text;
}

void report_touch() {
  const ModelCode in_model;
  const void* const data = reinterpret_cast<const void*>(touched);
  const std::string place = source_place(touching_code);
  if (const Fiber* const fiber = fiber_of_stack(data); fiber && data < fiber->stack) {
    fault(cudaErrorLaunchFailure, "the thread needs more than %zu bytes of stack, at %s", kStackBytes, place.c_str());
  } else {
    fault(cudaErrorIllegalAddress, "touches %s, at %s", describe(data).c_str(), place.c_str());
  }
}

// Runs on the kernel's stack in place of the code that touched the memory. Nothing of its own is ever destroyed.
[[noreturn]] void end_kernel() {
  report_touch();
  abandon_block();
}

bool on_running_stack(uintptr_t stack_pointer) {
  if (!running_fiber) return false;
  const auto begin = reinterpret_cast<uintptr_t>(running_fiber->stack);
  return begin - kStackGuard <= stack_pointer && stack_pointer < begin + running_fiber->bytes;
}

// False: this thread runs no kernel, or on this processor the way back is not known.
bool go_on_with_end_of_kernel(ucontext_t* context) {
  auto& machine = context->uc_mcontext;
#if defined(__x86_64__)
  auto& code = machine.gregs[REG_RIP];
  auto& stack_pointer = machine.gregs[REG_RSP];
  constexpr uintptr_t kReturnAddress = 8;  // that a call leaves on the stack
#elif defined(__aarch64__)
  auto& code = machine.pc;
  auto& stack_pointer = machine.sp;
  constexpr uintptr_t kReturnAddress = 0;
#else
  static_cast<void>(machine);
  return false;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  if (!on_running_stack(static_cast<uintptr_t>(stack_pointer))) return false;
  touching_code = static_cast<uintptr_t>(code);
  forget_stack(*running_fiber);
  const auto top = reinterpret_cast<uintptr_t>(running_fiber->stack + running_fiber->bytes);
  stack_pointer = static_cast<std::remove_reference_t<decltype(stack_pointer)>>(top - kReturnAddress);
  code = reinterpret_cast<std::remove_reference_t<decltype(code)>>(&end_kernel);
  return true;
#endif
}

void handle(int signal, siginfo_t* info, void* context) {
  touched = reinterpret_cast<uintptr_t>(info->si_addr);
  if (go_on_with_end_of_kernel(static_cast<ucontext_t*>(context))) return;
  if (is_host_view(info->si_addr)) {
    std::fprintf(stderr, "emulation: the host touches device memory: %s\n", describe(info->si_addr).c_str());
  } else if (is_device_view(info->si_addr)) {
    std::fprintf(stderr, "emulation: device memory is touched outside of kernels: %s\n",
                 describe(info->si_addr).c_str());
  }
  // The access is made again, for whoever was to know of it before.
  sigaction(signal, signal == SIGSEGV ? &previous_segv : &previous_bus, nullptr);
}

void watch(int signal, struct sigaction* previous) {
  struct sigaction current;
  if (sigaction(signal, nullptr, &current) != 0 || current.sa_sigaction == handle) return;
  *previous = current;
  struct sigaction ours {};
  ours.sa_sigaction = handle;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(signal, &ours, nullptr);
}

// A thread that has used up its stack has none left for a handler.
void use_alternate_stack() {
  stack_t current;
  if (sigaltstack(nullptr, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
  constexpr size_t kBytes = 64 << 10;
  thread_local void* const memory = std::malloc(kBytes);
  stack_t ours{};
  ours.ss_sp = memory;
  ours.ss_size = kBytes;
  sigaltstack(&ours, nullptr);
}

}  // namespace

void watch_signals() {
  use_alternate_stack();
  watch(SIGSEGV, &previous_segv);
  watch(SIGBUS, &previous_bus);
}

}  // namespace emu
