// Sums over the cells of a window of a picture, for the channels of one vector. Highway includes it once a target.
#if defined(DNN_WINDOW_SUM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_WINDOW_SUM_INL_H
#undef DNN_WINDOW_SUM_INL_H
#else
#define DNN_WINDOW_SUM_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `rows` of `columns` cells, the first at x.
template <class D>
HWY_INLINE hn::Vec<D> sum_cells(D d, const float* x, int rows, int columns, int64_t row_pitch, int64_t pitch) {
  auto sum = hn::Zero(d);
  for (int r = 0; r < rows; ++r) {
    for (int s = 0; s < columns; ++s) sum = hn::Add(sum, hn::LoadU(d, x + r * row_pitch + s * pitch));
  }
  return sum;
}

// As sum_cells, for windows so large that a float loses cells: in float by parts, in double over these.
template <class D>
HWY_INLINE hn::Vec<D> average_large(D d, const float* x, int rows, int columns, int64_t row_pitch, int64_t pitch,
                                    double divisor) {
  constexpr int kPart = 1024, kLanes = hn::MaxLanes(D());
  double sums[kLanes] = {};
  float part[kLanes];
  for (int r = 0; r < rows; ++r) {
    for (int s = 0; s < columns; s += kPart) {
      const float* first = x + r * row_pitch + s * pitch;
      hn::StoreU(sum_cells(d, first, 1, std::min(kPart, columns - s), row_pitch, pitch), d, part);
      for (int i = 0; i < kLanes; ++i) sums[i] += part[i];
    }
  }
  for (int i = 0; i < kLanes; ++i) part[i] = static_cast<float>(sums[i] / divisor);
  return hn::LoadU(d, part);
}

// The sum over the divisor.
template <class D>
HWY_INLINE hn::Vec<D> average_cells(D d, const float* x, int rows, int columns, int64_t row_pitch, int64_t pitch,
                                    double divisor) {
  constexpr int64_t kLarge = 1024;
  if (int64_t{rows} * columns > kLarge) return average_large(d, x, rows, columns, row_pitch, pitch, divisor);
  return hn::Div(sum_cells(d, x, rows, columns, row_pitch, pitch), hn::Set(d, static_cast<float>(divisor)));
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
