#include <libdnn/ops/upsample.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

// forward(kernels) and backward(kernels) name the two kernels.
template <class Forward, class Backward>
Tensor upsample(const char* op, const Tensor& x, const ResizeShape& shape, Forward forward, Backward backward) {
  Tensor y({shape.n, shape.oh, shape.ow, shape.c}, x.dtype(), x.device());
  run_kernel(op, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    forward(k)(context, shape, x.data<T>(), y.data<T>());
  });

  if (!wants_grad(x)) return y;
  record(op, {x}, {y}, [op, shape, backward](const TensorList& dy) -> TensorList {
    const Tensor dx({shape.n, shape.h, shape.w, shape.c}, dy[0].dtype(), dy[0].device());
    run_kernel(op, {&dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      backward(k)(context, shape, dy[0].data<T>(), dx.data<T>());
    });
    return {dx};
  });
  return y;
}

}  // namespace

Tensor upsample_nearest(const Tensor& x, std::array<int, 2> size) {
  return upsample(
      "upsample_nearest", x, resize_shape("upsample_nearest", x, size),
      [](const auto& k) { return k.upsample_nearest2d_forward; },
      [](const auto& k) { return k.upsample_nearest2d_backward; });
}

Tensor upsample_bilinear(const Tensor& x, std::array<int, 2> size, bool align_corners) {
  ResizeShape shape = resize_shape("upsample_bilinear", x, size);
  shape.align_corners = align_corners;
  return upsample(
      "upsample_bilinear", x, shape, [](const auto& k) { return k.upsample_bilinear2d_forward; },
      [](const auto& k) { return k.upsample_bilinear2d_backward; });
}

}  // namespace dnn
