// loss = mean over the rows that count of log(sum exp(x - m)) + m - x[label], m the row's largest value, and
// dx = (softmax(x) - [column is label]) / rows that count, 0 in the others. Each row is gone through in the cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cross_entropy.cpp"
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

// Returns the sum of the losses; `scale` is what a row weighs in the mean.
double cross_entropy_rows(int64_t rows, int cols, const float* x, const int32_t* labels, int32_t ignore_label,
                          float scale, float* dx) {
  double loss = 0;
  for (int64_t row = 0; row < rows; ++row, x += cols) {
    const int32_t label = labels[row];
    float* dx_row = dx ? dx + row * cols : nullptr;
    if (label == ignore_label) {
      if (dx) std::fill_n(dx_row, cols, 0.0f);
      continue;
    }
    const float largest = largest_of(cols, x);
    const double sum = dx ? exp_row(cols, largest, x, dx_row) : exp_sum(cols, largest, x);
    loss += std::log(sum) + (static_cast<double>(largest) - x[label]);
    if (dx) {
      scale_row(cols, static_cast<float>(scale / sum), dx_row);
      dx_row[label] -= scale;
    }
  }
  return loss;
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void softmax_cross_entropy(Context& context, const RowsShape& shape, const float* x, const int32_t* labels,
                           int32_t ignore_label, float* loss, float* dx, int64_t* bad_row) {
  *bad_row = -1;
  int64_t counted = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    if (labels[row] == ignore_label) continue;
    if (labels[row] < 0 || labels[row] >= shape.cols) {
      *bad_row = row;
      return;
    }
    ++counted;
  }
  const float scale = counted > 0 ? static_cast<float>(1.0 / static_cast<double>(counted)) : 0.0f;
  const auto row_loop = DNN_PER_ISA(cross_entropy_rows)[context];
  const int64_t chunks = std::min(shape.rows, chunk_count(shape.count(), kChunkElements / 2));
  Workspace workspace(context);
  double* losses = workspace.take<double>(chunks);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(shape.rows, chunks, chunk);
    const int64_t at = range.begin * shape.cols;
    losses[chunk] = row_loop(range.end - range.begin, shape.cols, x + at, labels + range.begin, ignore_label, scale,
                             dx ? dx + at : nullptr);
  });
  double sum = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += losses[chunk];
  loss[0] = counted > 0 ? static_cast<float>(sum / static_cast<double>(counted)) : 0.0f;
}

}  // namespace dnn::cpu
#endif
