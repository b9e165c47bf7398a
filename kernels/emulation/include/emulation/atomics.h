#pragma once
#include <type_traits>

#include <emulation/qualifiers.h>

// Threads of a kernel never interrupt each other here, so reading, changing and writing is atomic.
namespace emu {

// Checked build: tells the checker of an access that the compiler's instrumentation does not show as what it is.
// A function that calls it is EMU_NOTED: its caller, EMU_CALLER, is then the place in the kernel.
enum class AccessKind { load, store, atomic };
#ifdef EMU_CHECKED
#define EMU_NOTED inline EMU_UNCHECKED __attribute__((noinline))
#define EMU_CALLER __builtin_return_address(0)
void note_access(const void* data, unsigned bytes, AccessKind, const void* caller);
void note_fence();
#else
#define EMU_NOTED inline
#define EMU_CALLER nullptr
inline void note_access(const void*, unsigned, AccessKind, const void*) {}
inline void note_fence() {}
#endif

template <class T, class F>
EMU_UNCHECKED T change_atomically(T* data, F change, const void* caller) {
  note_access(data, sizeof *data, AccessKind::atomic, caller);
  const T old = *data;
  *data = change(old);
  return old;
}

#define EMU_ATOMIC(name, expression)                                                                \
  template <class T>                                                                                \
  EMU_NOTED T name(T* data, std::type_identity_t<T> value) {                                        \
    return change_atomically(                                                                       \
        data, [value]([[maybe_unused]] T old) EMU_UNCHECKED { return T(expression); }, EMU_CALLER); \
  }
EMU_ATOMIC(atomicAdd, old + value)
EMU_ATOMIC(atomicSub, old - value)
EMU_ATOMIC(atomicMax, old < value ? value : old)
EMU_ATOMIC(atomicMin, value < old ? value : old)
EMU_ATOMIC(atomicAnd, old& value)
EMU_ATOMIC(atomicOr, old | value)
EMU_ATOMIC(atomicXor, old ^ value)
EMU_ATOMIC(atomicExch, value)
EMU_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
EMU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef EMU_ATOMIC

template <class T>
EMU_NOTED T atomicCAS(T* data, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return change_atomically(
      data, [=](T old) EMU_UNCHECKED { return old == expected ? value : old; }, EMU_CALLER);
}

}  // namespace emu
