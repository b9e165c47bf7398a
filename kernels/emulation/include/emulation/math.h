#pragma once
#include <math.h>

#include <emulation/approximate.h>
#include <emulation/atomics.h>
#include <emulation/bits.h>
#include <emulation/qualifiers.h>

// Arithmetic of the device. What C++ has too (expf, fmaxf, erff, fmaf) is the C library's.
namespace emu {

// Rounded to nearest and never contracted to a fused operation.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return ::sqrtf(a); }
// Rounded twice, which for no argument makes a difference: tests/math_test.cu.
inline float __frsqrt_rn(float a) { return static_cast<float>(1 / ::sqrt(static_cast<double>(a))); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1 / a; }
inline double __dsqrt_rn(double a) { return ::sqrt(a); }

inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }  // of NaN: 0
inline double rsqrt(double x) { return 1 / ::sqrt(x); }

inline float sinpif(float x) { return static_cast<float>(::sin(M_PI * ::fmod(static_cast<double>(x), 2.0))); }
inline float cospif(float x) { return static_cast<float>(::cos(M_PI * ::fmod(static_cast<double>(x), 2.0))); }
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline float normcdff(float x) { return static_cast<float>(0.5 * ::erfc(-static_cast<double>(x) * M_SQRT1_2)); }
inline double normcdf(double x) { return 0.5 * ::erfc(-x * M_SQRT1_2); }

// The types that CUDA has them for; of two types as C++ converts them.
#define EMU_MIN_MAX(A, B, R)                                                                                       \
  inline R min(A a, B b) { return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); } \
  inline R max(A a, B b) { return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); }
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(unsigned, unsigned, unsigned)
EMU_MIN_MAX(int, unsigned, unsigned)
EMU_MIN_MAX(unsigned, int, unsigned)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(long, unsigned long, unsigned long)
EMU_MIN_MAX(unsigned long, long, unsigned long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
EMU_MIN_MAX(long long, unsigned long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef EMU_MIN_MAX
inline float min(float a, float b) { return ::fminf(a, b); }
inline float max(float a, float b) { return ::fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
inline double min(float a, double b) { return ::fmin(static_cast<double>(a), b); }
inline double max(float a, double b) { return ::fmax(static_cast<double>(a), b); }
inline double min(double a, float b) { return ::fmin(a, static_cast<double>(b)); }
inline double max(double a, float b) { return ::fmax(a, static_cast<double>(b)); }

// Loads and stores with a hint for the caches.
#define EMU_LOAD(name)                                             \
  template <class T>                                               \
  EMU_NOTED T name(const T* data) {                                \
    note_access(data, sizeof *data, AccessKind::load, EMU_CALLER); \
    return *data;                                                  \
  }
EMU_LOAD(__ldg)
EMU_LOAD(__ldca)
EMU_LOAD(__ldcg)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldcv)
EMU_LOAD(__ldlu)
#undef EMU_LOAD
#define EMU_STORE(name)                                             \
  template <class T>                                                \
  EMU_NOTED void name(T* data, std::type_identity_t<T> value) {     \
    note_access(data, sizeof *data, AccessKind::store, EMU_CALLER); \
    *data = value;                                                  \
  }
EMU_STORE(__stwb)
EMU_STORE(__stcg)
EMU_STORE(__stcs)
EMU_STORE(__stwt)
#undef EMU_STORE

}  // namespace emu
