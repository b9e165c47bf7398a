#include <libdnn/ops/loss.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

// dx = scale * dx, with the one element `scale`.
void scale_in_place(const char* op, const Tensor& dx, const Tensor& scale) {
  BroadcastShape shape;
  shape.dims = 1;
  shape.size[0] = dx.numel();
  shape.a_stride[0] = 1;
  run_kernel(op, {&dx, &scale}, [&]<class T>(const Kernels<T>& k, Context& context) {
    if (dx.device().backend().device.host_memory && *scale.data<T>() == 1) return;
    k.binary(context, BinaryOp::mul, shape, dx.data<T>(), scale.data<T>(), dx.data<T>());
  });
}

}  // namespace

Tensor loss_grad_or_none(const Tensor& x) {
  return wants_grad(x) ? Tensor(x.shape(), x.dtype(), x.device()) : Tensor();
}

void record_loss(const char* op, const Tensor& x, const Tensor& loss, const Tensor& dx) {
  if (!dx.defined()) return;
  record(op, {x}, {loss}, [op, dx](const TensorList& dy) -> TensorList {
    scale_in_place(op, dx, dy[0]);
    return {dx};
  });
}

}  // namespace dnn
