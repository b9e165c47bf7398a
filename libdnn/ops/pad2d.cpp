#include <libdnn/ops/pad2d.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

Tensor padded(const Pad2dShape& shape, double value, const Tensor& x) {
  Tensor y({shape.n, shape.oh(), shape.ow(), shape.c}, x.dtype(), x.device());
  run_kernel("pad2d", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.pad2d(context, shape, static_cast<T>(value), x.data<T>(), y.data<T>());
  });
  return y;
}

}  // namespace

Tensor pad2d(const Tensor& x, std::array<int, 4> borders, double value) {
  check_dims("pad2d", "x", x, 4);
  const auto [top, left, bottom, right] = borders;
  const Pad2dShape shape{x.size(0), x.size(1), x.size(2), x.size(3), top, left, bottom, right};
  shape.check("pad2d");
  Tensor y = padded(shape, value, x);
  if (!wants_grad(x)) return y;
  record("pad2d", {x}, {y}, [shape](const TensorList& dy) -> TensorList { return {padded(shape.back(), 0, dy[0])}; });
  return y;
}

}  // namespace dnn
