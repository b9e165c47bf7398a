// y = the column of a row's largest value, the first of equals; a NaN counts as largest. Whether there is a NaN
// and which value is the largest is found first, then the place.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/argmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/softmax-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

bool has_nan(int cols, const float* x) {
  bool found = false;
  for_vectors(cols, [&](auto d, int64_t i) HWY_ATTR { found |= !hn::AllFalse(d, hn::IsNaN(hn::LoadU(d, x + i))); });
  return found;
}

int32_t argmax_row(int cols, const float* x) {
  const bool nan = has_nan(cols, x);
  const float largest = largest_of(cols, x);
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= cols; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    const intptr_t lane = hn::FindFirstTrue(d, nan ? hn::IsNaN(v) : hn::Eq(v, hn::Set(d, largest)));
    if (lane >= 0) return i + static_cast<int32_t>(lane);
  }
  while (i < cols - 1 && !(nan ? std::isnan(x[i]) : x[i] == largest)) ++i;
  return i;
}

void argmax_rows(int64_t rows, int cols, const float* x, int32_t* y) {
  for (int64_t row = 0; row < rows; ++row) y[row] = argmax_row(cols, x + row * cols);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void argmax(Context& context, const RowsShape& shape, const float* x, int32_t* y) {
  const auto row_loop = DNN_PER_ISA(argmax_rows)[context];
  const int64_t chunks = std::min(shape.rows, chunk_count(shape.count(), kChunkElements));
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(shape.rows, chunks, chunk);
    row_loop(range.end - range.begin, shape.cols, x + range.begin * shape.cols, y + range.begin);
  });
}

}  // namespace dnn::cpu
#endif
