#include <cstring>
#include <vector>

#include "launch_state.h"
#include "state.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace emu {

uint64_t current_block;

namespace {

[[maybe_unused]] constexpr unsigned char kGuardByte = 0xA5;
constexpr size_t kBankRow = 128;

// What a block has in shared memory, each with a guard zone before and behind.
struct Variable {
  std::byte* data;
  size_t bytes;
  const char* name;
};
auto& entered = *new std::vector<Variable>;  // by the running block
size_t static_bytes, dynamic_bytes, limit_of_launch;
// At the beginning of a row of banks, as on the device where there is nothing else in shared memory.
alignas(kBankRow) std::byte dynamic_area[kBankRow + kSharedLimit + kGuard];
std::byte* const dynamic_data = dynamic_area + kBankRow;

#ifdef __SANITIZE_ADDRESS__
void set_guards(const Variable& variable) {
  __asan_poison_memory_region(variable.data - kGuard, kGuard);
  __asan_poison_memory_region(variable.data + variable.bytes, kGuard);
}
void check_guards(const Variable&) {}
#else
void set_guards(const Variable& variable) {
  std::memset(variable.data - kGuard, kGuardByte, kGuard);
  std::memset(variable.data + variable.bytes, kGuardByte, kGuard);
}

void check_guards(const Variable& variable) {
  const std::byte* const end = variable.data + variable.bytes;
  for (size_t i = 0; i < kGuard; ++i) {
    const bool before = variable.data[-1 - static_cast<ptrdiff_t>(i)] != std::byte{kGuardByte};
    if (!before && end[i] == std::byte{kGuardByte}) continue;
    fault(cudaErrorLaunchFailure, "a thread wrote %zu bytes %s %s, which has %zu bytes in shared memory",
          before ? i + 1 : i, before ? "before" : "behind the end of", variable.name, variable.bytes);
    return;
  }
}
#endif

void enter(const Variable& variable) {
  std::memset(variable.data, 0xFF, variable.bytes);
  entered.push_back(variable);
  checker_shared_begins(variable.data, variable.bytes, variable.name);
}

}  // namespace

void shared_memory_of_launch(size_t bytes, size_t limit) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(dynamic_area, sizeof dynamic_area);
#endif
  dynamic_bytes = bytes;
  limit_of_launch = limit;
  set_guards({dynamic_data, bytes, nullptr});
}

void shared_memory_begins() {
  current_block = ++position.block;
  static_bytes = 0;
  entered.clear();
  if (dynamic_bytes > 0) enter({dynamic_data, dynamic_bytes, "the dynamic shared memory"});
}

void shared_memory_ends() {
  for (const Variable& variable : entered) check_guards(variable);
}

void enter_shared(uint64_t* block, void* data, size_t bytes, const char* name) {
  const ModelCode in_model;
  const Variable variable{static_cast<std::byte*>(data), bytes, name};
  set_guards(variable);
  *block = current_block;
  enter(variable);
  static_bytes += (bytes + 15) / 16 * 16;
  if (static_bytes <= kStaticSharedLimit && static_bytes + dynamic_bytes <= limit_of_launch) return;
  fault(cudaErrorInvalidValue,
        "the kernel takes %zu bytes of static and %zu of dynamic shared memory; %zu are the limit%s", static_bytes,
        dynamic_bytes, static_bytes > kStaticSharedLimit ? kStaticSharedLimit : limit_of_launch,
        static_bytes > kStaticSharedLimit ? " for static shared memory" : "");
  abandon_block();
}

void* dynamic_shared() { return dynamic_data; }

Range dynamic_shared_range() { return {dynamic_data, dynamic_data + dynamic_bytes}; }

}  // namespace emu
