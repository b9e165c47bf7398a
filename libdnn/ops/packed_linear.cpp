#include <libdnn/ops/packed_linear.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

PackedLinearWeight pack_linear_weight(const Tensor& w) {
  check_dims("pack_linear_weight", "w", w, 2);
  PackedLinearWeight result{w.shape(), {}};
  run_kernel("pack_linear_weight", {&w}, [&]<class T>(const Kernels<T>& k, Context& context) {
    const GemmShape shape{.n = w.size(0), .k = w.size(1), .trans_b = true};
    const int64_t count = k.gemm_packed_size(context, shape);
    result.values = Tensor({packed_size("pack_linear_weight", w, count)}, w.dtype(), w.device());
    k.gemm_pack_b(context, shape, w.data<T>(), result.values.data<T>());
  });
  return result;
}

Tensor linear(const Tensor& x, const PackedLinearWeight& w, const Tensor& bias, Activation activation,
              const Tensor& residual) {
  const GemmShape shape = linear_shape(x, w.shape, bias);
  check_no_grad("linear", {x, bias, residual});
  check_activation("linear", activation);
  Tensor y(linear_result(x, w.shape), x.dtype(), x.device());
  if (residual.defined()) check_shape("linear", "residual", residual, y.shape());
  run_kernel("linear", {&x, &w.values, &bias, &residual}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.gemm_packed_b(context, shape, x.data<T>(), w.values.data<T>(),
                    {.bias = data_or_null<T>(bias), .residual = data_or_null<T>(residual), .activation = activation},
                    y.data<T>());
  });
  return y;
}

}  // namespace dnn
