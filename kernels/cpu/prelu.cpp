// y = x > 0 ? x : slope * x with a slope for each column, and its gradients; one pass over memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/prelu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kernels/cpu/column_split.h>
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

void prelu_chunk(int64_t rows, int width, int64_t pitch, const float* slope, const float* x, float* y) {
  for (int64_t at = 0; at < rows * pitch; at += pitch) {
    for_vectors(width, [=](auto d, int64_t i) HWY_ATTR {
      const auto v = hn::LoadU(d, x + at + i);
      hn::StoreU(hn::IfThenElse(hn::Gt(v, hn::Zero(d)), v, hn::Mul(v, hn::LoadU(d, slope + i))), d, y + at + i);
    });
  }
}

template <bool kDx, bool kSums>
void backward_loop(int64_t rows, int width, int64_t pitch, const float* slope, const float* x, const float* dy,
                   float* dx, float* sums, double* totals) {
  constexpr int64_t kRowsOfFloatSums = 64;
  for (int64_t begin = 0; begin < rows; begin += kRowsOfFloatSums) {
    if constexpr (kSums) std::fill_n(sums, width, 0.0f);
    for (int64_t row = begin; row < std::min(rows, begin + kRowsOfFloatSums); ++row) {
      for_vectors(width, [=](auto d, int64_t i) HWY_ATTR {
        const auto v = hn::LoadU(d, x + row * pitch + i), g = hn::LoadU(d, dy + row * pitch + i);
        const auto positive = hn::Gt(v, hn::Zero(d));
        if constexpr (kDx) {
          hn::StoreU(hn::IfThenElse(positive, g, hn::Mul(g, hn::LoadU(d, slope + i))), d, dx + row * pitch + i);
        }
        if constexpr (kSums) {
          const auto part = hn::IfThenZeroElse(positive, hn::Mul(v, g));
          hn::StoreU(hn::Add(part, hn::LoadU(d, sums + i)), d, sums + i);
        }
      });
    }
    if constexpr (kSums) {
      for (int i = 0; i < width; ++i) totals[i] += sums[i];
    }
  }
}

// `sums` is scratch for float sums of a few rows, `totals` takes them all; dx or they are null where not wanted.
void prelu_backward_chunk(int64_t rows, int width, int64_t pitch, const float* slope, const float* x, const float* dy,
                          float* dx, float* sums, double* totals) {
  if (dx && totals) return backward_loop<true, true>(rows, width, pitch, slope, x, dy, dx, sums, totals);
  if (dx) return backward_loop<true, false>(rows, width, pitch, slope, x, dy, dx, sums, totals);
  if (totals) return backward_loop<false, true>(rows, width, pitch, slope, x, dy, dx, sums, totals);
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

const float* repeated(Workspace& workspace, const ColumnSplit& split, const float* values) {
  if (split.group == 1) return values;
  float* all = workspace.take<float>(split.width());
  std::copy_n(values, split.cols, all);
  split.repeat(all);
  return all;
}

}  // namespace

void prelu_forward(Context& context, const RowsShape& shape, const float* x, const float* slope, float* y) {
  const auto chunk_loop = DNN_PER_ISA(prelu_chunk)[context];
  const ColumnSplit split(shape);
  Workspace workspace(context);
  const float* slopes = repeated(workspace, split, slope);
  parallel_for(context, split.chunks(), [&](int64_t chunk, int) {
    split.for_runs(chunk, [&](int64_t at, int64_t col, int64_t rows, int width, int64_t pitch) {
      chunk_loop(rows, width, pitch, slopes + col, x + at, y + at);
    });
  });
}

void prelu_backward(Context& context, const RowsShape& shape, const float* x, const float* slope, const float* dy,
                    float* dx, float* dslope) {
  const auto chunk_loop = DNN_PER_ISA(prelu_backward_chunk)[context];
  const ColumnSplit split(shape);
  Workspace workspace(context);
  const float* slopes = repeated(workspace, split, slope);
  const int64_t width = split.width(), threads = threads_for(context, split.chunks()), cols = shape.cols;
  float* sums = dslope ? workspace.take<float>(width * threads) : nullptr;
  double* totals = dslope ? workspace.take<double>(width * threads) : nullptr;
  double* sets = dslope ? workspace.take<double>(split.row_chunks * cols) : nullptr;
  if (dslope) std::fill_n(sets, split.row_chunks * cols, 0.0);
  parallel_for(context, split.chunks(), [&](int64_t chunk, int thread) {
    float* own_sums = dslope ? sums + width * thread : nullptr;
    double* own = dslope ? totals + width * thread : nullptr;
    split.for_runs(chunk, [&](int64_t at, int64_t col, int64_t rows, int run_width, int64_t pitch) {
      if (dslope) std::fill_n(own, run_width, 0.0);
      chunk_loop(rows, run_width, pitch, slopes + col, x + at, dy + at, dx ? dx + at : nullptr, own_sums, own);
      if (dslope) split.add_run(run_width, own, sets + split.set_of(chunk) * cols + col);
    });
  });
  for (int64_t c = 0; dslope && c < cols; ++c) {
    double sum = 0;
    for (int64_t set = 0; set < split.row_chunks; ++set) sum += sets[set * cols + c];
    dslope[c] = static_cast<float>(sum);
  }
}

}  // namespace dnn::cpu
#endif
