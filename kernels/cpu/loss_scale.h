#pragma once
#include <optional>

#include <kernels/backend.h>

namespace dnn::cpu {

// The factor of the summed losses of rows: over the labels that are not ignored, 1 / (sum of their class weights) for a
// mean, 0 where that sum is; 1 for a sum. Looks at every label first: nothing where one is no class, which sets the
// status.
inline std::optional<double> loss_scale(Context& context, LabelOp op, const RowsShape& shape,
                                        const CrossEntropyParams& params, const int32_t* labels,
                                        const float* class_weights) {
  double weights = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    const int32_t label = labels[row];
    if (label == params.ignore_label) continue;
    if (static_cast<uint32_t>(label) >= static_cast<uint32_t>(shape.cols)) {
      context.status->set_label(op, row, label, shape.cols);
      return {};
    }
    weights += class_weights ? class_weights[label] : 1.0F;
  }
  if (!params.mean) return 1;
  return weights == 0 ? 0.0 : 1 / weights;
}

}  // namespace dnn::cpu
