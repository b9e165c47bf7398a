#include <libdnn/ops/batch_norm.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/epilogue.h>

namespace dnn {
namespace {

RowsShape checked_shape(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                        const Tensor& bias, bool training) {
  const RowsShape shape = last_dim_rows("batch_norm", x);
  if (training && shape.rows == 1) {
    throw Error(
        fmt::format("[batch_norm] training needs more than one value a channel, of more or larger pictures; got x {}",
                    x.shape().str()));
  }
  if (!training && !(running_mean.defined() && running_var.defined())) {
    throw Error("[batch_norm] needs running statistics but in training; got none");
  }
  const auto check_columns = [&](const char* name, const Tensor& t) {
    if (!t.defined() || t.shape() == Shape{shape.cols}) return;
    throw Error(fmt::format("[batch_norm] {} must be ({}); got {}{}", name, shape.cols, t.shape().str(),
                            layout_hint(x.shape(), t.dims() == 1 ? t.size(0) : -1)));
  };
  check_columns("running_mean", running_mean);
  check_columns("running_var", running_var);
  check_columns("weight", weight);
  check_columns("bias", bias);
  return shape;
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& options, const Tensor& residual) {
  check_batch_norm(options.eps, options.momentum);
  const Activation activation = options.activation;
  const bool wanted = wants_grad({x, weight, bias, residual});
  if (!can_fuse("batch_norm", activation, wanted) && residual.defined()) {
    BatchNormOptions plain = options;
    plain.activation = Activation::none;
    return activate(batch_norm(x, running_mean, running_var, weight, bias, plain, residual), activation);
  }
  const RowsShape shape = checked_shape(x, running_mean, running_var, weight, bias, options.training);
  if (residual.defined()) check_shape("batch_norm", "residual", residual, x.shape());
  const BatchNormParams params{.eps = options.eps, .momentum = options.momentum, .training = options.training};
  Tensor y(x.shape(), x.dtype(), x.device());
  const Tensor mean({shape.cols}, x.dtype(), x.device()), inv_std({shape.cols}, x.dtype(), x.device());
  run_kernel("batch_norm", {&x, &running_mean, &running_var, &weight, &bias, &residual},
             [&]<class T>(const Kernels<T>& k, Context& context) {
               k.batch_norm_forward(
                   context, shape, params,
                   {data_or_null<T>(bias), data_or_null<T>(residual), activation, data_or_null<T>(weight)},
                   {.x = x.data<T>(),
                    .running_mean = data_or_null<T>(running_mean),
                    .running_var = data_or_null<T>(running_var),
                    .y = y.data<T>(),
                    .mean = mean.data<T>(),
                    .inv_std = inv_std.data<T>()});
             });

  if (!wanted) return y;
  const bool want_dx = wants_grad(x), want_dweight = wants_grad(weight), want_dbias = wants_grad(bias);
  const bool want_dresidual = wants_grad(residual), active = activation != Activation::none;
  record("batch_norm", {x, weight, bias, residual}, {y},
         [=, y = active && residual.defined() ? y.detach() : Tensor()](const TensorList& grads) -> TensorList {
           const Tensor& dy = grads[0];
           Tensor dx, dresidual, dweight, dbias;
           // Without an activation dy is the residual's gradient too.
           if (want_dresidual) dresidual = active ? over_or_new(dy) : dy;
           if (want_dx) dx = want_dresidual ? Tensor(dy.shape(), dy.dtype(), dy.device()) : over_or_new(dy);
           if (want_dweight) dweight = Tensor({shape.cols}, dy.dtype(), dy.device());
           if (want_dbias) dbias = Tensor({shape.cols}, dy.dtype(), dy.device());
           run_kernel("batch_norm", {&dy, &x}, [&]<class T>(const Kernels<T>& k, Context& context) {
             k.batch_norm_backward(context, shape, params, activation,
                                   {.x = x.data<T>(),
                                    .mean = mean.data<T>(),
                                    .inv_std = inv_std.data<T>(),
                                    .weight = data_or_null<T>(weight),
                                    .bias = data_or_null<T>(bias),
                                    .y = data_or_null<T>(y),
                                    .dy = dy.data<T>(),
                                    .dx = data_or_null<T>(dx),
                                    .dresidual = active ? data_or_null<T>(dresidual) : nullptr,
                                    .dweight = data_or_null<T>(dweight),
                                    .dbias = data_or_null<T>(dbias)});
           });
           return {dx, dweight, dbias, dresidual};
         });
  return y;
}

}  // namespace dnn
