#pragma once
#include <cstdint>
#include <utility>

#include <emulation/control.h>

namespace emu {

// SplitMix64: small and fast, and the same everywhere.
struct Random {
  uint64_t state = 1;

  uint64_t next() {
    uint64_t x = state += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>((next() >> 32) * limit >> 32); }
  template <class T>
  void shuffle(T* data, int count) {
    for (int i = count; i > 1; --i) std::swap(data[i - 1], data[below(static_cast<unsigned>(i))]);
  }
};

struct Settings {
  Order thread_order = Order::forward, block_order = Order::forward;
  Random thread_random, block_random;
  bool exit_before_barrier_is_fault = true;
};
extern Settings settings;

}  // namespace emu
