#pragma once
#include <type_traits>

#include <emulation/qualifiers.h>

// Threads of a kernel never interrupt each other here, so reading, changing and writing is atomic.
namespace emu {

// Checked build: tells the checker of an access that the compiler's instrumentation does not show as what it is.
enum class AccessKind { load, store, atomic };
#ifdef EMU_CHECKED
void note_access(const void* data, unsigned bytes, AccessKind);
#else
inline void note_access(const void*, unsigned, AccessKind) {}
#endif

template <class T, class F>
EMU_UNCHECKED T change_atomically(T* data, F change) {
  note_access(data, sizeof *data, AccessKind::atomic);
  const T old = *data;
  *data = change(old);
  return old;
}

#define EMU_ATOMIC(name, expression)                                                        \
  template <class T>                                                                        \
  EMU_UNCHECKED T name(T* data, std::type_identity_t<T> value) {                            \
    return change_atomically(data, [value](T old) EMU_UNCHECKED { return T(expression); }); \
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
EMU_UNCHECKED T atomicCAS(T* data, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return change_atomically(data, [=](T old) EMU_UNCHECKED { return old == expected ? value : old; });
}

}  // namespace emu
