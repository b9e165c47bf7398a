#pragma once
#include <algorithm>
#include <cmath>

#include <kernels/backend.h>
#include <kernels/reference/unary.h>
#include <kernels/reference/softmax.h>

namespace dnn::reference {

// loss = loss_scale * sum over rows of -weight * x[label], dx[label] = -weight * loss_scale and 0 elsewhere and in an
// ignored row.
template <class T>
void nll_loss(Context&, const RowsShape& shape, const CrossEntropyParams& params, const T* x, const int32_t* labels,
              const T* class_weights_or_null, T* loss, T* dx_or_null, int64_t* bad_row) {
  const double scale = loss_scale(shape, params, labels, class_weights_or_null, bad_row);
  if (*bad_row >= 0) return;
  if (dx_or_null) std::fill_n(dx_or_null, shape.count(), T{0});
  double total = 0;
  for (int64_t row = 0; row < shape.rows; ++row) {
    if (labels[row] == params.ignore_label) continue;
    const double weight = class_weights_or_null ? class_weights_or_null[labels[row]] : 1;
    const int64_t at = row * shape.cols + labels[row];
    total -= weight * x[at];
    if (dx_or_null) dx_or_null[at] = static_cast<T>(-weight * scale);
  }
  *loss = static_cast<T>(scale * total);
}

// The functions of enum PointwiseLoss, and their slopes at x.
struct LossValue {
  double value, slope;
};

inline LossValue pointwise_loss_at(PointwiseLoss kind, double beta, double x, double target) {
  const double d = x - target;
  const double sign = (d > 0 ? 1 : 0) - (d < 0 ? 1 : 0);
  switch (kind) {
    case PointwiseLoss::mse:
      return {d * d, 2 * d};
    case PointwiseLoss::l1:
      return {std::abs(d), sign};
    case PointwiseLoss::smooth_l1:
      if (std::abs(d) < beta) return {d * d / (2 * beta), d / beta};
      return {std::abs(d) - beta / 2, sign};
    case PointwiseLoss::bce_with_logits:
      break;
  }
  return {std::max(x, 0.0) - x * target + std::log1p(std::exp(-std::abs(x))), sigmoid(x) - target};
}

template <class T>
void pointwise_loss(Context&, PointwiseLoss kind, double beta, double scale, int64_t count, const T* x, const T* target,
                    T* loss, T* dx_or_null) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const LossValue at = pointwise_loss_at(kind, beta, x[i], target[i]);
    total += at.value;
    if (dx_or_null) dx_or_null[i] = static_cast<T>(scale * at.slope);
  }
  *loss = static_cast<T>(scale * total);
}

}  // namespace dnn::reference
