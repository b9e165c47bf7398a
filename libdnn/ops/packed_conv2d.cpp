#include <libdnn/ops/packed_conv2d.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

PackedConv2dWeight pack_conv2d_weight(const Tensor& w, const Shape& x, const Conv2dOptions& options) {
  const Conv2dShape shape = conv2d_shape(x, w.shape(), options);
  PackedConv2dWeight result{w.shape(), {}, {}};
  run_kernel("pack_conv2d_weight", {&w}, [&]<class T>(const Kernels<T>& k, Context& context) {
    result.packing = k.conv2d_packing(context, shape);
    const int size = packed_size("pack_conv2d_weight", w, result.packing.count);
    result.values = Tensor({size}, w.dtype(), w.device());
    k.conv2d_pack_weight(context, shape, result.packing, w.data<T>(), result.values.data<T>());
  });
  return result;
}

Tensor conv2d(const Tensor& x, const PackedConv2dWeight& w, const Tensor& bias, const Conv2dOptions& options,
              const Tensor& residual) {
  const Conv2dShape shape = conv2d_shape(x.shape(), w.shape, options);
  check_no_grad("conv2d", {x, bias, residual});
  check_activation("conv2d", options.activation);
  Tensor y({shape.n, shape.oh(), shape.ow(), shape.k}, x.dtype(), x.device());
  if (bias.defined()) check_shape("conv2d", "bias", bias, {shape.k});
  if (residual.defined()) check_shape("conv2d", "residual", residual, y.shape());
  run_kernel("conv2d", {&x, &w.values, &bias, &residual}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.conv2d_forward_packed(context, shape, w.packing, x.data<T>(), w.values.data<T>(),
                            {data_or_null<T>(bias), data_or_null<T>(residual), options.activation}, y.data<T>());
  });
  return y;
}

}  // namespace dnn
