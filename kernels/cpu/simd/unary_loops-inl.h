// One pass over memory that applies a function of one number. Highway includes it once a target.
#if defined(DNN_UNARY_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_UNARY_LOOPS_INL_H
#undef DNN_UNARY_LOOPS_INL_H
#else
#define DNN_UNARY_LOOPS_INL_H
#endif

#include <kernels/cpu/simd/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

// Each loop is a function of its own, in which the compiler still has room to inline f.

// y = f(d, x)
template <class F>
HWY_NOINLINE void forward_loop(bool stream, int64_t count, const float* x, float* y, F f) {
  if (HWY_TARGET != HWY_SCALAR && stream) {
    for_vectors(count, [=](auto d, int64_t i) HWY_ATTR { store<true>(f(d, hn::LoadU(d, x + i)), d, y + i); });
    flush<true>();
  } else {
    for_vectors(count, [=](auto d, int64_t i) HWY_ATTR { hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i); });
  }
}

// dx = f(d, saved, dy)
template <class F>
HWY_NOINLINE void backward_loop(bool stream, int64_t count, const float* saved, const float* dy, float* dx, F f) {
  if (HWY_TARGET != HWY_SCALAR && stream) {
    for_vectors(count, [=](auto d, int64_t i)
                           HWY_ATTR { store<true>(f(d, hn::LoadU(d, saved + i), hn::LoadU(d, dy + i)), d, dx + i); });
    flush<true>();
  } else {
    for_vectors(count, [=](auto d, int64_t i)
                           HWY_ATTR { hn::StoreU(f(d, hn::LoadU(d, saved + i), hn::LoadU(d, dy + i)), d, dx + i); });
  }
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
