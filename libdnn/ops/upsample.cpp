#include <libdnn/ops/upsample.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

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

// floor(size * factor); keeps the factor in `scale` where that is not whole.
int scaled_size(const char* op, int size, double factor, double& scale) {
  if (!(factor > 0)) throw Error(fmt::format("[{}] scale factors must be above 0; got {}", op, factor));
  const double exact = size * factor;
  if (!(exact < std::numeric_limits<int>::max())) {
    throw Error(fmt::format("[{}] the result is too large; got a factor of {} for {}", op, factor, size));
  }
  scale = exact == std::floor(exact) ? 0 : factor;
  return static_cast<int>(exact);
}

ResizeShape scaled_shape(const char* op, const Tensor& x, std::array<double, 2> factor) {
  check_dims(op, "x", x, 4);
  double scale_h = 0, scale_w = 0;
  const int h = scaled_size(op, x.size(1), factor[0], scale_h), w = scaled_size(op, x.size(2), factor[1], scale_w);
  ResizeShape shape = resize_shape(op, x, {h, w});
  shape.scale_h = scale_h, shape.scale_w = scale_w;
  return shape;
}

Tensor nearest(const char* op, const Tensor& x, ResizeShape shape, bool exact = false) {
  shape.exact = exact;
  return upsample(
      op, x, shape, [](const auto& k) { return k.upsample_nearest2d_forward; },
      [](const auto& k) { return k.upsample_nearest2d_backward; });
}

// torch copies along a direction whose size stays, whatever the factor.
Tensor bilinear(const char* op, const Tensor& x, ResizeShape shape, bool align_corners) {
  shape.align_corners = align_corners;
  if (shape.oh == shape.h) shape.scale_h = 0;
  if (shape.ow == shape.w) shape.scale_w = 0;
  return upsample(
      op, x, shape, [](const auto& k) { return k.upsample_bilinear2d_forward; },
      [](const auto& k) { return k.upsample_bilinear2d_backward; });
}

}  // namespace

Tensor upsample_nearest(const Tensor& x, std::array<int, 2> size) {
  return nearest("upsample_nearest", x, resize_shape("upsample_nearest", x, size));
}

Tensor upsample_nearest_by(const Tensor& x, std::array<double, 2> factor) {
  return nearest("upsample_nearest", x, scaled_shape("upsample_nearest", x, factor));
}

Tensor upsample_nearest_exact(const Tensor& x, std::array<int, 2> size) {
  return nearest("upsample_nearest_exact", x, resize_shape("upsample_nearest_exact", x, size), true);
}

Tensor upsample_nearest_exact_by(const Tensor& x, std::array<double, 2> factor) {
  return nearest("upsample_nearest_exact", x, scaled_shape("upsample_nearest_exact", x, factor), true);
}

Tensor upsample_bilinear(const Tensor& x, std::array<int, 2> size, bool align_corners) {
  return bilinear("upsample_bilinear", x, resize_shape("upsample_bilinear", x, size), align_corners);
}

Tensor upsample_bilinear_by(const Tensor& x, std::array<double, 2> factor, bool align_corners) {
  return bilinear("upsample_bilinear", x, scaled_shape("upsample_bilinear", x, factor), align_corners);
}

}  // namespace dnn
