#include <libdnn/ops/upsample.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {

Tensor upsample_nearest(const Tensor& x, std::array<int, 2> size) {
  const ResizeShape shape = resize_shape("upsample_nearest", x, size);
  const Tensor y({shape.n, shape.oh, shape.ow, shape.c}, x.dtype(), x.device());
  run_kernel("upsample_nearest", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.upsample_nearest2d_forward(context, shape, x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record("upsample_nearest", {x}, {y}, [shape](const TensorList& dy) -> TensorList {
    const Tensor dx({shape.n, shape.h, shape.w, shape.c}, dy[0].dtype(), dy[0].device());
    run_kernel("upsample_nearest", {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.upsample_nearest2d_backward(context, shape, dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

Tensor upsample_bilinear(const Tensor& x, std::array<int, 2> size, bool align_corners) {
  ResizeShape shape = resize_shape("upsample_bilinear", x, size);
  shape.align_corners = align_corners;
  const Tensor y({shape.n, shape.oh, shape.ow, shape.c}, x.dtype(), x.device());
  run_kernel("upsample_bilinear", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.upsample_bilinear2d_forward(context, shape, x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record("upsample_bilinear", {x}, {y}, [shape](const TensorList& dy) -> TensorList {
    const Tensor dx({shape.n, shape.h, shape.w, shape.c}, dy[0].dtype(), dy[0].device());
    run_kernel("upsample_bilinear", {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.upsample_bilinear2d_backward(context, shape, dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace dnn
