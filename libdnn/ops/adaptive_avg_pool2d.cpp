#include <libdnn/ops/adaptive_avg_pool2d.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

Tensor adaptive_avg_pool2d(const Tensor& x, std::array<int, 2> size) {
  const ResizeShape shape = resize_shape("adaptive_avg_pool2d", x, size);
  if (shape.oh == shape.h && shape.ow == shape.w) return x;
  Tensor y({shape.n, shape.oh, shape.ow, shape.c}, x.dtype(), x.device());
  run_kernel("adaptive_avg_pool2d", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.adaptive_avg_pool2d_forward(context, shape, x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record("adaptive_avg_pool2d", {x}, {y}, [shape](const TensorList& dy) -> TensorList {
    const Tensor dx({shape.n, shape.h, shape.w, shape.c}, dy[0].dtype(), dy[0].device());
    run_kernel("adaptive_avg_pool2d", {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.adaptive_avg_pool2d_backward(context, shape, dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace dnn
