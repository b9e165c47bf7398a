#include "settings.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "fiber.h"
#include "state.h"

namespace emu {
namespace {

Settings from_environment() {
  Settings result;
  const char* const text = std::getenv("EMU_ORDER");
  const std::string order = text ? text : "forward";
  if (order == "reverse") {
    result.thread_order = result.block_order = Order::reverse;
  } else if (order == "random") {
    result.thread_order = result.block_order = Order::random;
  } else if (order != "forward") {
    std::fprintf(stderr, "emulation: EMU_ORDER is \"%s\"; it can be forward, reverse or random\n", text);
    std::abort();
  }
  return result;
}

}  // namespace

Settings settings = from_environment();

void set_thread_order(Order order, uint64_t seed) {
  const std::lock_guard lock(model_mutex());
  settings.thread_order = order;
  settings.thread_random.state = seed;
}

void set_block_order(Order order, uint64_t seed) {
  const std::lock_guard lock(model_mutex());
  settings.block_order = order;
  settings.block_random.state = seed;
}

void set_exit_before_barrier_fault(bool on) {
  const std::lock_guard lock(model_mutex());
  settings.exit_before_barrier_is_fault = on;
}

uint64_t switch_count() { return count_switches(); }

}  // namespace emu
