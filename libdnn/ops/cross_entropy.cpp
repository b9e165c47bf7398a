#include <libdnn/ops/cross_entropy.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

void check_labels(const Tensor& logits, const Tensor& labels) {
  check_shape("cross_entropy", "labels", labels, {logits.size(0)});
  if (labels.dtype() != DType::int32) {
    throw Error(fmt::format("[cross_entropy] labels must be int32; got {}", name_of(labels.dtype())));
  }
  if (!(labels.device() == logits.device())) {
    throw Error(fmt::format("[cross_entropy] operands must be on one device; got {} and {}", logits.device().name(),
                            labels.device().name()));
  }
}

// dx = scale * dx, with the one element `scale`.
void scale_in_place(const Tensor& dx, const Tensor& scale) {
  BroadcastShape shape;
  shape.dims = 1;
  shape.size[0] = dx.numel();
  shape.a_stride[0] = 1;
  run_kernel("cross_entropy", {&dx, &scale}, [&]<class T>(const Kernels<T>& k, Context& context) {
    if (dx.device().backend().device.host_memory && *scale.data<T>() == 1) return;
    k.mul(context, shape, dx.data<T>(), scale.data<T>(), dx.data<T>());
  });
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  check_dims("cross_entropy", "logits", logits, 2);
  check_labels(logits, labels);
  const RowsShape shape = last_dim_rows("cross_entropy", logits);
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    throw Error(
        fmt::format("[cross_entropy] label_smoothing is at least 0 and below 1; got {}", options.label_smoothing));
  }
  if (options.class_weights.defined())
    check_shape("cross_entropy", "class_weights", options.class_weights, {shape.cols});
  const Tensor loss({}, logits.dtype(), logits.device());
  Tensor dx;
  if (wants_grad(logits)) dx = Tensor(logits.shape(), logits.dtype(), logits.device());
  int64_t bad_row = -1;
  run_kernel("cross_entropy", {&logits, &options.class_weights}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.softmax_cross_entropy(context, shape, {options.ignore_label, options.label_smoothing}, logits.data<T>(),
                            labels.data<int32_t>(), data_or_null<T>(options.class_weights), loss.data<T>(),
                            data_or_null<T>(dx), &bad_row);
  });
  if (bad_row >= 0) {
    throw Error(fmt::format("[cross_entropy] label {} of sample {} is outside 0..{}", labels.data<int32_t>()[bad_row],
                            bad_row, shape.cols - 1));
  }

  if (!dx.defined()) return loss;
  record("cross_entropy", {logits}, {loss}, [dx](const TensorList& dy) -> TensorList {
    scale_in_place(dx, dy[0]);
    return {dx};
  });
  return loss;
}

}  // namespace dnn
