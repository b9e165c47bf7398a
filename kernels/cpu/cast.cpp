// From one number type to another: convert.h. By vectors from and to float where the other side is of 8, 16 or 32 bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/convert.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using DI = hn::RebindToSigned<D>;
using DU = hn::RebindToUnsigned<D>;
using D8 = hn::Rebind<uint8_t, D>;
using D16 = hn::Rebind<uint16_t, D>;

#if HWY_TARGET != HWY_SCALAR

HWY_INLINE V load(const uint8_t* x) { return hn::ConvertTo(D(), hn::PromoteTo(DI(), hn::LoadU(D8(), x))); }
HWY_INLINE V load(const int32_t* x) { return hn::ConvertTo(D(), hn::LoadU(DI(), x)); }
HWY_INLINE V load(const Float16* x) {
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(D(), hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(x)));
}
HWY_INLINE V load(const BFloat16* x) {
  const auto bits = hn::PromoteTo(DU(), hn::LoadU(D16(), reinterpret_cast<const uint16_t*>(x)));
  return hn::BitCast(D(), hn::ShiftLeft<16>(bits));
}

HWY_INLINE V number_or_0(V x) { return hn::IfThenElseZero(hn::Eq(x, x), x); }

HWY_INLINE void save(V x, uint8_t* y) {
  const V near = hn::Min(hn::Max(number_or_0(x), hn::Zero(D())), hn::Set(D(), 255.0f));
  hn::StoreU(hn::DemoteTo(D8(), hn::ConvertTo(DI(), near)), D8(), y);
}
HWY_INLINE void save(V x, int32_t* y) {
  // What is 2^31 or more has the sign bit set by some instruction sets.
  const V limit = hn::Set(D(), 0x1p31f);
  const auto most = hn::Set(DI(), INT32_MAX);
  const auto beyond = hn::RebindMask(DI(), hn::Ge(x, limit));
  const V least = hn::Max(number_or_0(x), hn::Set(D(), -0x1p31f));
  hn::StoreU(hn::IfThenElse(beyond, most, hn::ConvertTo(DI(), least)), DI(), y);
}
HWY_INLINE void save(V x, Float16* y) {
  const hn::Rebind<hwy::float16_t, D> half;
  hn::StoreU(hn::DemoteTo(half, x), half, reinterpret_cast<hwy::float16_t*>(y));
}
HWY_INLINE void save(V x, BFloat16* y) {
  const DU du;
  const auto bits = hn::BitCast(du, x), upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(du, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff))));
  const auto nan = hn::RebindMask(du, hn::IsNaN(x));
  const auto result = hn::IfThenElse(nan, hn::Or(upper, hn::Set(du, 0x40)), rounded);
  hn::StoreU(hn::DemoteTo(D16(), hn::BitCast(DI(), result)), D16(), reinterpret_cast<uint16_t*>(y));
}

#endif

template <class T>
void to_float(int64_t count, const T* x, float* y) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const int64_t lanes = hn::Lanes(D());
  for (; i + lanes <= count; i += lanes) hn::StoreU(load(x + i), D(), y + i);
#endif
  for (; i < count; ++i) y[i] = convert_element<float>(x[i]);
}

template <class T>
void from_float(int64_t count, const float* x, T* y) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const int64_t lanes = hn::Lanes(D());
  for (; i + lanes <= count; i += lanes) save(hn::LoadU(D(), x + i), y + i);
#endif
  for (; i < count; ++i) y[i] = convert_element<T>(x[i]);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

template <class From, class To>
void convert(int64_t count, const From* x, To* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = convert_element<To>(x[i]);
}

// Types that a vector of floats is loaded from or saved to.
template <class T>
constexpr bool kByVectors = std::is_same_v<T, uint8_t> || std::is_same_v<T, int32_t> || std::is_same_v<T, Float16> ||
                            std::is_same_v<T, BFloat16>;

template <class From, class To>
auto chunk_loop(const Context& context) {
  if constexpr (std::is_same_v<To, float> && kByVectors<From>) {
    return DNN_PER_ISA(to_float<From>)[context];
  } else if constexpr (std::is_same_v<From, float> && kByVectors<To>) {
    return DNN_PER_ISA(from_float<To>)[context];
  } else {
    return &convert<From, To>;
  }
}

}  // namespace

void cast(Context& context, DType from, DType to, int64_t count, const void* x, void* y) {
  with_type(from, [&]<class From>(From) {
    with_type(to, [&]<class To>(To) {
      const auto loop = chunk_loop<From, To>(context);
      const From* const in = static_cast<const From*>(x);
      To* const out = static_cast<To*>(y);
      const int64_t chunks = chunk_count(count, kChunkElements);
      parallel_for(context, chunks, [&](int64_t chunk, int) {
        const auto [begin, end] = chunk_range(count, chunks, chunk);
        loop(end - begin, in + begin, out + begin);
      });
    });
  });
}

}  // namespace dnn::cpu
#endif
