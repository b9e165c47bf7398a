// Highway includes it once a target.
#if defined(DNN_MASKED_LOAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_MASKED_LOAD_INL_H
#undef DNN_MASKED_LOAD_INL_H
#else
#define DNN_MASKED_LOAD_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

// The lanes of the mask from `from`, 0 in the others, whose memory is not touched: Highway's one-lane target would load
// first and mask then.
template <class Mask, class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> masked_load(Mask mask, D d, const float* from) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SCALAR
  return hn::AllTrue(d, mask) ? hn::LoadU(d, from) : hn::Zero(d);
#else
  return hn::MaskedLoad(mask, d, from);
#endif
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
