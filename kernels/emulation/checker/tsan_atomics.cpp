#include <cstddef>
#include <cstdint>

// With -fsanitize=thread, operations of std::atomic and the counters of std::shared_ptr in the sources of kernels
// become calls of these. It is host code that has them.
#define EMU_ATOMIC_CHANGE(bits, T, name)                                 \
  T __tsan_atomic##bits##_fetch_##name(volatile T* data, T value, int) { \
    return __atomic_fetch_##name(data, value, __ATOMIC_SEQ_CST);         \
  }
#define EMU_ATOMIC_COMPARE(bits, T, name, weak)                                                          \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile T* data, T* expected, T value, int, int) {  \
    return __atomic_compare_exchange_n(data, expected, value, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
#define EMU_ATOMICS(bits, T)                                                                                    \
  T __tsan_atomic##bits##_load(const volatile T* data, int) { return __atomic_load_n(data, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile T* data, T value, int) {                                            \
    __atomic_store_n(data, value, __ATOMIC_SEQ_CST);                                                            \
  }                                                                                                             \
  T __tsan_atomic##bits##_exchange(volatile T* data, T value, int) {                                            \
    return __atomic_exchange_n(data, value, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                             \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* data, T expected, T value, int, int) {               \
    __atomic_compare_exchange_n(data, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);             \
    return expected;                                                                                            \
  }                                                                                                             \
  EMU_ATOMIC_COMPARE(bits, T, strong, false)                                                                    \
  EMU_ATOMIC_COMPARE(bits, T, weak, true)                                                                       \
  EMU_ATOMIC_CHANGE(bits, T, add)                                                                               \
  EMU_ATOMIC_CHANGE(bits, T, sub)                                                                               \
  EMU_ATOMIC_CHANGE(bits, T, and)                                                                               \
  EMU_ATOMIC_CHANGE(bits, T, or)                                                                                \
  EMU_ATOMIC_CHANGE(bits, T, xor)                                                                               \
  EMU_ATOMIC_CHANGE(bits, T, nand)

extern "C" {
EMU_ATOMICS(8, uint8_t)
EMU_ATOMICS(16, uint16_t)
EMU_ATOMICS(32, uint32_t)
EMU_ATOMICS(64, uint64_t)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
}
