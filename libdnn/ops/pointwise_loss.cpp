#include <libdnn/ops/pointwise_loss.h>

#include <fmt/format.h>

#include <algorithm>

#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/loss.h>

namespace dnn {
namespace {

Tensor pointwise_loss(const char* op, PointwiseLoss kind, const Tensor& x, const Tensor& target, Reduction reduction,
                      double beta = 0) {
  check_shape(op, "target", target, x.shape());
  Tensor loss({}, x.dtype(), x.device());
  const Tensor dx = loss_grad_or_none(x);
  const double scale = reduction == Reduction::mean ? 1 / static_cast<double>(std::max<int64_t>(x.numel(), 1)) : 1;
  run_kernel(op, {&x, &target}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.pointwise_loss(context, {kind, beta, scale}, x.numel(), x.data<T>(), target.data<T>(), loss.data<T>(),
                     data_or_null<T>(dx));
  });
  record_loss(op, x, loss, dx);
  return loss;
}

}  // namespace

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return pointwise_loss("mse_loss", PointwiseLoss::mse, x, target, reduction);
}

Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  return pointwise_loss("l1_loss", PointwiseLoss::l1, x, target, reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta, Reduction reduction) {
  if (!(beta >= 0)) throw Error(fmt::format("[smooth_l1_loss] beta must not be negative; got {}", beta));
  return pointwise_loss("smooth_l1_loss", PointwiseLoss::smooth_l1, x, target, reduction, beta);
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, Reduction reduction) {
  return pointwise_loss("binary_cross_entropy_with_logits", PointwiseLoss::bce_with_logits, x, target, reduction);
}

}  // namespace dnn
