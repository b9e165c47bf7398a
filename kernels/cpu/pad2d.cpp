// Pictures with borders added or taken away, row by row of the result: a run of the border's value, a copied run, and
// another of the value.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pad2d.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

template <bool kStream>
void fill_run(int64_t count, float value, float* y) {
  for_vectors(count, [=](auto d, int64_t i) HWY_ATTR { store<kStream>(hn::Set(d, value), d, y + i); });
}

template <bool kStream>
void pad_rows(const Pad2dShape& p, float value, Range range, const float* x, float* y) {
  const int oh = p.oh(), ow = p.ow();
  // The columns of the result that are in the picture.
  const int begin = std::max(p.left, 0), end = std::min(p.left + p.w, ow);
  for (int64_t row = range.begin; row < range.end; ++row) {
    const int64_t iy = row % oh - p.top;
    float* to = y + row * ow * p.c;
    if (iy < 0 || iy >= p.h) {
      fill_run<kStream>(int64_t{ow} * p.c, value, to);
      continue;
    }
    const float* from = x + ((row / oh * p.h + iy) * p.w + begin - p.left) * p.c;
    float* inside = to + int64_t{begin} * p.c;
    fill_run<kStream>(int64_t{begin} * p.c, value, to);
    for_vectors(int64_t{end - begin} * p.c,
                [=](auto d, int64_t i) HWY_ATTR { store<kStream>(hn::LoadU(d, from + i), d, inside + i); });
    fill_run<kStream>(int64_t{ow - end} * p.c, value, to + int64_t{end} * p.c);
  }
  flush<kStream>();
}

// Rows [range.begin, range.end) of all results. `stream`: see store().
void pad_chunk(const Pad2dShape& p, float value, bool stream, Range range, const float* x, float* y) {
  stream ? pad_rows<true>(p, value, range, x, y) : pad_rows<false>(p, value, range, x, y);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void pad2d(Context& context, const Pad2dShape& p, float value, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(pad_chunk)[context];
  const int64_t rows = int64_t{p.n} * p.oh(), count = rows * p.ow() * p.c;
  const int64_t chunks = std::min(rows, chunk_count(count, kChunkElements));
  const bool stream = p.c % kLineFloats == 0 && worth_streaming(y, count);
  parallel_for(context, chunks,
               [&](int64_t chunk, int) { chunk_loop(p, value, stream, chunk_range(rows, chunks, chunk), x, y); });
}

}  // namespace dnn::cpu
#endif
