// Loops over broadcast operands. Highway includes it once a target.
#if defined(DNN_BROADCAST_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_BROADCAST_INL_H
#undef DNN_BROADCAST_INL_H
#else
#define DNN_BROADCAST_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include <kernels/cpu/broadcast_plan.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

// f(count, offsets of the operands, i) for the results [i, i + count) of each run of the last dimension, of the results
// `range`.
template <int kOperands, class F>
HWY_INLINE void for_each_run(const BroadcastPlan<kOperands>& plan, Range range, F&& f) {
  const int last = plan.dims - 1;
  const int64_t length = plan.size[last];
  std::array<int64_t, kMaxDims> at{};  // the place in every dimension but the last
  std::array<int64_t, kOperands> offset{};
  int64_t rest = range.begin / length, first = range.begin % length;
  for (int dim = last - 1; dim >= 0; --dim) {
    at[dim] = rest % plan.size[dim];
    rest /= plan.size[dim];
    for (int j = 0; j < kOperands; ++j) offset[j] += at[dim] * plan.stride[j][dim];
  }
  for (int64_t i = range.begin; i < range.end; first = 0) {
    const int64_t count = std::min(length - first, range.end - i);
    std::array<int64_t, kOperands> from;
    for (int j = 0; j < kOperands; ++j) from[j] = offset[j] + first * plan.stride[j][last];
    f(count, from, i);
    i += count;
    for (int dim = last - 1; dim >= 0; --dim) {
      for (int j = 0; j < kOperands; ++j) offset[j] += plan.stride[j][dim];
      if (++at[dim] < plan.size[dim]) break;
      at[dim] = 0;
      for (int j = 0; j < kOperands; ++j) offset[j] -= plan.size[dim] * plan.stride[j][dim];
    }
  }
}

// The operand's values for the results from the run's i on, where it steps along the run or stands still.
template <bool kStep, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> operand(D d, const T* x, int64_t i) {
  if constexpr (kStep) {
    return hn::LoadU(d, x + i);
  } else {
    return hn::Set(d, *x);
  }
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
