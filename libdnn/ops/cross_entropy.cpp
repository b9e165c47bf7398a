#include <libdnn/ops/cross_entropy.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/device_status.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/loss.h>

namespace dnn {
namespace {

RowsShape checked_shape(const char* op, const char* operand, const Tensor& x, const Tensor& labels,
                        const Tensor& class_weights) {
  if (x.dims() < 2) {
    throw Error(fmt::format("[{}] {} must be (N, ..., classes); got {}", op, operand, x.shape().str()));
  }
  check_shape(op, "labels", labels, Shape(x.shape().begin(), x.dims() - 1));
  if (labels.dtype() != DType::int32 && labels.dtype() != DType::int64) {
    throw Error(fmt::format("[{}] labels must be int32 or int64; got {}", op, name_of(labels.dtype())));
  }
  detail::check_one_device(op, {&x, &labels});
  const RowsShape shape = last_dim_rows(op, x);
  if (class_weights.defined()) check_shape(op, "class_weights", class_weights, {shape.cols});
  return shape;
}

// As int32. By way of float64, which makes a label beyond that the largest, and so none of a class.
Tensor as_int32(const Tensor& labels) {
  return labels.dtype() == DType::int32 ? labels : labels.to(DType::float64).to(DType::int32);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  const Tensor& class_weights = options.class_weights;
  const RowsShape shape = checked_shape("cross_entropy", "logits", logits, labels, class_weights);
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    throw Error(fmt::format("[cross_entropy] label_smoothing is from 0 to 1; got {}", options.label_smoothing));
  }
  Tensor loss({}, logits.dtype(), logits.device());
  const Tensor classes = as_int32(labels), dx = loss_grad_or_none(logits);
  run_kernel("cross_entropy", {&logits, &class_weights}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.softmax_cross_entropy(
        context, shape, {options.ignore_label, options.label_smoothing, options.reduction == Reduction::mean},
        logits.data<T>(), classes.data<int32_t>(), data_or_null<T>(class_weights), loss.data<T>(), data_or_null<T>(dx));
    check_labels(context);
  });
  record_loss("cross_entropy", logits, loss, dx);
  return loss;
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels, const NllLossOptions& options) {
  const Tensor &x = log_probabilities, &class_weights = options.class_weights;
  const RowsShape shape = checked_shape("nll_loss", "log_probabilities", x, labels, class_weights);
  Tensor loss({}, x.dtype(), x.device());
  const Tensor classes = as_int32(labels), dx = loss_grad_or_none(x);
  run_kernel("nll_loss", {&x, &class_weights}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.nll_loss(context, shape, {options.ignore_label, 0, options.reduction == Reduction::mean}, x.data<T>(),
               classes.data<int32_t>(), data_or_null<T>(class_weights), loss.data<T>(), data_or_null<T>(dx));
    check_labels(context);
  });
  record_loss("nll_loss", x, loss, dx);
  return loss;
}

}  // namespace dnn
