// y[i][j] = pictures[index[i]][j] / divisor: bytes widened to floats, one pass.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gather_pixels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void widen_row(int count, const uint8_t* x, float divisor, float* y) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto by = hn::Set(d, divisor);
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto wide = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, x + i)));
    hn::StoreU(hn::Div(wide, by), d, y + i);
  }
  for (; i < count; ++i) y[i] = static_cast<float>(x[i]) / divisor;
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void gather_pixels(Context& context, const RowsShape& shape, const uint8_t* pictures, const int32_t* index,
                   float divisor, float* y) {
  const auto widen = DNN_PER_ISA(widen_row)[context];
  const int64_t chunks =
      chunk_count(shape.count(), kChunkElements, std::max<int64_t>(1, std::min<int64_t>(shape.rows, 64)));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(shape.rows, chunks, chunk);
    for (int64_t i = range.begin; i < range.end; ++i) {
      widen(shape.cols, pictures + (index ? index[i] : i) * shape.cols, divisor, y + i * shape.cols);
    }
  });
}

}  // namespace dnn::cpu
#endif
