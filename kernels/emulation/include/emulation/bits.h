#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

// Integers, bits and conversions.
namespace emu {

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x)); }

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}

inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}

// Four of the eight bytes of a and b, chosen by the low four digits of the selector; 8 in a digit takes the byte's
// sign.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned digit = selector >> (4 * i) & 15;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (digit & 7))) & 0xFF;
    if (digit & 8) byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}

// To an integer the device clamps, and makes 0 of NaN.
template <class I>
I to_integer(double rounded) {
  constexpr int kBits = sizeof(I) * 8 - (I(-1) < I(0) ? 1 : 0);
  constexpr I kMost = static_cast<I>(~(I(-1) < I(0) ? I(1) << (sizeof(I) * 8 - 1) : I(0)));
  constexpr I kLeast = static_cast<I>(~kMost);
  if (rounded != rounded) return 0;
  if (rounded >= std::ldexp(1.0, kBits)) return kMost;
  if (rounded <= static_cast<double>(kLeast)) return kLeast;
  return static_cast<I>(rounded);
}
#define EMU_CONVERSIONS(source, F, target, I)                                                   \
  inline I __##source##2##target##_rn(F x) { return to_integer<I>(std::nearbyint(double(x))); } \
  inline I __##source##2##target##_rz(F x) { return to_integer<I>(std::trunc(double(x))); }     \
  inline I __##source##2##target##_rd(F x) { return to_integer<I>(std::floor(double(x))); }     \
  inline I __##source##2##target##_ru(F x) { return to_integer<I>(std::ceil(double(x))); }
EMU_CONVERSIONS(float, float, int, int)
EMU_CONVERSIONS(float, float, uint, unsigned)
EMU_CONVERSIONS(float, float, ll, long long)
EMU_CONVERSIONS(float, float, ull, unsigned long long)
EMU_CONVERSIONS(double, double, int, int)
EMU_CONVERSIONS(double, double, uint, unsigned)
EMU_CONVERSIONS(double, double, ll, long long)
EMU_CONVERSIONS(double, double, ull, unsigned long long)
#undef EMU_CONVERSIONS
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return static_cast<double>(x); }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }

}  // namespace emu
