// Softmax cross entropy, forward and gradient: the formulas are in kernels/reference/softmax.h. Each row is gone
// through while it lies in the cache, from its largest value m: log_sum_exp(x) - x[j] = log(sum exp(x - m)) + m - x[j].
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/loss_scale.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/softmax-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

#ifndef DNN_CROSS_ENTROPY_TARGETS
#define DNN_CROSS_ENTROPY_TARGETS
namespace dnn::cpu {
namespace {

// What the rows of one call share; the sums are over the weights of all classes.
struct Targets {
  CrossEntropyParams params;
  const float* class_weights;
  double weights_sum;
  double scale;  // see loss_scale
};

}  // namespace
}  // namespace dnn::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

// Returns the sum of the losses, not yet scaled.
double cross_entropy_rows(const Targets& t, int64_t rows, int cols, const float* x, const int32_t* labels, float* dx) {
  const double smoothing = t.params.label_smoothing, smooth = smoothing / cols;
  double loss = 0;
  for (int64_t row = 0; row < rows; ++row, x += cols) {
    const int32_t label = labels[row];
    float* dx_row = dx ? dx + row * cols : nullptr;
    if (label == t.params.ignore_label) {
      if (dx) std::fill_n(dx_row, cols, 0.0f);
      continue;
    }
    const float largest = largest_of(cols, x);
    const double sum = dx ? exp_row(cols, largest, x, dx_row) : exp_sum(cols, largest, x);
    const double log_sum = std::log(sum);
    const double at_label = (1 - smoothing) * (t.class_weights ? t.class_weights[label] : 1);
    loss += at_label * (log_sum + (static_cast<double>(largest) - x[label]));
    if (smoothing != 0) {  // the weighted sum of largest - x
      const double below = sum_blocks(cols, [&](auto d, int64_t j) HWY_ATTR {
        const auto lower = hn::Sub(hn::Set(d, largest), hn::LoadU(d, x + j));
        return t.class_weights ? hn::Mul(lower, hn::LoadU(d, t.class_weights + j)) : lower;
      });
      loss += smooth * (t.weights_sum * log_sum + below);
    }
    if (!dx) continue;
    const double target_sum = at_label + smooth * t.weights_sum;
    scale_row(cols, static_cast<float>(t.scale * target_sum / sum), dx_row);
    dx_row[label] -= static_cast<float>(t.scale * at_label);
    if (smoothing != 0) {
      const auto each = static_cast<float>(t.scale * smooth);
      for_vectors(cols, [&](auto d, int64_t j) HWY_ATTR {
        const auto weight = t.class_weights ? hn::LoadU(d, t.class_weights + j) : hn::Set(d, 1.0f);
        hn::StoreU(hn::NegMulAdd(weight, hn::Set(d, each), hn::LoadU(d, dx_row + j)), d, dx_row + j);
      });
    }
  }
  return loss;
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

void softmax_cross_entropy(Context& context, const RowsShape& shape, const CrossEntropyParams& params, const float* x,
                           const int32_t* labels, const float* class_weights, float* loss, float* dx) {
  const std::optional<double> scale = loss_scale(context, LabelOp::cross_entropy, shape, params, labels, class_weights);
  loss[0] = std::numeric_limits<float>::quiet_NaN();
  if (!scale) return;
  Targets targets{params, class_weights, static_cast<double>(shape.cols), *scale};
  if (class_weights) {
    targets.weights_sum = 0;
    for (int j = 0; j < shape.cols; ++j) targets.weights_sum += class_weights[j];
  }
  const auto row_loop = DNN_PER_ISA(cross_entropy_rows)[context];
  const int64_t chunks = std::min(shape.rows, chunk_count(shape.count(), kChunkElements / 2));
  Workspace workspace(context);
  double* losses = workspace.take<double>(chunks);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const Range range = chunk_range(shape.rows, chunks, chunk);
    const int64_t at = range.begin * shape.cols;
    losses[chunk] =
        row_loop(targets, range.end - range.begin, shape.cols, x + at, labels + range.begin, dx ? dx + at : nullptr);
  });
  double sum = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += losses[chunk];
  loss[0] = static_cast<float>(sum * targets.scale);
}

}  // namespace dnn::cpu
#endif
