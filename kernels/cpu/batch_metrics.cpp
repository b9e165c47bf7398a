// What a batch adds to the sums of an epoch: its loss, and the rows whose largest score is at the label.
#include <cmath>

#include <kernels/cpu/cpu.h>

namespace dnn::cpu {

void batch_metrics(Context& context, const RowsShape& shape, int64_t step, const float* loss, const float* scores,
                   const int32_t* labels, BatchSums* sums) {
  const double value = loss[0];
  if (!std::isfinite(value)) context.status->set_loss(step, value);
  sums->loss += value * static_cast<double>(shape.rows);
  Workspace workspace(context);
  int32_t* const found = workspace.take<int32_t>(shape.rows);
  arg_reduce(context, ArgOp::max, {shape.rows, shape.cols}, scores, found);
  for (int64_t row = 0; row < shape.rows; ++row) sums->correct += found[row] == labels[row] ? 1 : 0;
}

}  // namespace dnn::cpu
