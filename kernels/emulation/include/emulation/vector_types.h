#pragma once
#include <cstdint>

namespace emu {

// The device loads and stores these vectors whole. In the checked build g++ must not take a copy apart, or the checker
// would see an access for each element: -fno-tree-sra keeps loads whole, and with a constructor the vector is there
// before it is stored. All of them stay trivially copyable.
#ifdef EMU_CHECKED
#define EMU_BUILT_WHOLE_2(T, name) \
  name() = default;                \
  constexpr name(T first, T second) : x(first), y(second) {}
#define EMU_BUILT_WHOLE_4(T, name) \
  name() = default;                \
  constexpr name(T first, T second, T third = 0, T fourth = 0) : x(first), y(second), z(third), w(fourth) {}
#else
#define EMU_BUILT_WHOLE_2(T, name)
#define EMU_BUILT_WHOLE_4(T, name)
#endif

#define EMU_VECTOR_TYPES(T, name)                                    \
  struct alignas(2 * sizeof(T)) name##2 {                            \
    T x, y;                                                          \
    EMU_BUILT_WHOLE_2(T, name##2)                                    \
  };                                                                 \
  struct name##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct alignas(sizeof(T) < 8 ? 4 * sizeof(T) : 16) name##4 {       \
    T x, y, z, w;                                                    \
    EMU_BUILT_WHOLE_4(T, name##4)                                    \
  };                                                                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

EMU_VECTOR_TYPES(signed char, char)
EMU_VECTOR_TYPES(unsigned char, uchar)
EMU_VECTOR_TYPES(short, short)
EMU_VECTOR_TYPES(unsigned short, ushort)
EMU_VECTOR_TYPES(int, int)
EMU_VECTOR_TYPES(unsigned, uint)
EMU_VECTOR_TYPES(long long, longlong)
EMU_VECTOR_TYPES(float, float)
EMU_VECTOR_TYPES(double, double)
#undef EMU_VECTOR_TYPES
#undef EMU_BUILT_WHOLE_2
#undef EMU_BUILT_WHOLE_4

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1) : x(x_size), y(y_size), z(z_size) {}
};

}  // namespace emu
