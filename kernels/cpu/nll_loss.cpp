// The negative log likelihood: the formula is in kernels/reference/loss.h. It reads one value of each row; the gradient
// is zeros but for that one.
#include <kernels/cpu/cpu.h>
#include <kernels/cpu/loss_scale.h>
#include <kernels/parallel.h>

#include <algorithm>
#include <limits>

namespace dnn::cpu {

void nll_loss(Context& context, const RowsShape& shape, const CrossEntropyParams& params, const float* x,
              const int32_t* labels, const float* class_weights, float* loss, float* dx) {
  const std::optional<double> scale = loss_scale(context, LabelOp::nll_loss, shape, params, labels, class_weights);
  loss[0] = std::numeric_limits<float>::quiet_NaN();
  if (!scale) return;
  const int64_t chunks = std::min(shape.rows, chunk_count(dx ? shape.count() : shape.rows, kChunkElements));
  Workspace workspace(context);
  double* losses = workspace.take<double>(chunks);
  parallel_for(context, chunks, [&](int64_t chunk, int) {
    const auto [begin, end] = chunk_range(shape.rows, chunks, chunk);
    if (dx) std::fill(dx + begin * shape.cols, dx + end * shape.cols, 0.0f);
    double sum = 0;
    for (int64_t row = begin; row < end; ++row) {
      if (labels[row] == params.ignore_label) continue;
      const double weight = class_weights ? class_weights[labels[row]] : 1;
      const int64_t at = row * shape.cols + labels[row];
      sum -= weight * x[at];
      if (dx) dx[at] = static_cast<float>(-weight * *scale);
    }
    losses[chunk] = sum;
  });
  double sum = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += losses[chunk];
  loss[0] = static_cast<float>(sum * *scale);
}

}  // namespace dnn::cpu
