// Sums of the columns of a few rows. Highway includes it once a target.
#if defined(DNN_COLUMN_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_COLUMN_SUMS_INL_H
#undef DNN_COLUMN_SUMS_INL_H
#else
#define DNN_COLUMN_SUMS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include <kernels/cpu/simd/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

// sums[c] = the sum of the rows' column c, in float: for some tens of rows. Eight rows at a time, so that the sums are
// loaded and stored less often.
HWY_INLINE void column_sums(int64_t rows, int64_t width, int64_t pitch, const float* x, float* sums) {
  std::fill_n(sums, width, 0.0f);
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8) {
    for_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      const float* first = x + row * pitch + c;
      auto even = hn::LoadU(d, first), odd = hn::LoadU(d, first + pitch);
#pragma GCC unroll 3
      for (int i = 2; i < 8; i += 2) {
        even = hn::Add(even, hn::LoadU(d, first + i * pitch));
        odd = hn::Add(odd, hn::LoadU(d, first + (i + 1) * pitch));
      }
      hn::StoreU(hn::Add(hn::LoadU(d, sums + c), hn::Add(even, odd)), d, sums + c);
    });
  }
  for (; row < rows; ++row) {
    for_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, sums + c), hn::LoadU(d, x + row * pitch + c)), d, sums + c);
    });
  }
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
