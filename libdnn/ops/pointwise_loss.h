#pragma once
#include <libdnn/ops/loss.h>

namespace dnn {

// The mean, or the sum, over all elements, a scalar; the mean of none is 0. x and target have one shape. The target
// gets no gradient.
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);  // (x - target)^2
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);   // |x - target|

// With d = |x - target|: d^2 / (2 beta) where d < beta, else d - beta / 2. With beta 0 it is l1_loss.
Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta = 1, Reduction reduction = Reduction::mean);

// -target * log sigmoid(x) - (1 - target) * log(1 - sigmoid(x)), without overflow for any x.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

}  // namespace dnn
