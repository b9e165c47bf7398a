#include <libdnn/ops/prelu.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/compare.h>
#include <libdnn/ops/where.h>

namespace dnn {
namespace {

void check_slope(const Shape& x, const Shape& slope) {
  bool fits = slope.dims() <= x.dims();
  for (int i = 1; fits && i <= slope.dims(); ++i) fits = slope[-i] == 1 || slope[-i] == x[-i];
  if (!fits) throw Error(fmt::format("[prelu] slope must broadcast to {}; got {}", x.str(), slope.str()));
}

}  // namespace

Tensor prelu(const Tensor& x, const Tensor& slope) {
  check_slope(x.shape(), slope.shape());
  const bool one = slope.numel() == 1;
  if (!one && slope.numel() != slope.size(-1)) return where(x > 0, x, slope * x);
  const RowsShape shape = one ? RowsShape{x.numel(), 1} : last_dim_rows("prelu", x);
  Tensor y(x.shape(), x.dtype(), x.device());
  run_kernel("prelu", {&x, &slope}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.prelu_forward(context, shape, x.data<T>(), slope.data<T>(), y.data<T>());
  });

  if (!wants_grad({x, slope})) return y;
  const bool want_dx = wants_grad(x), want_dslope = wants_grad(slope);
  record("prelu", {x, slope}, {y}, [=](const TensorList& dy) -> TensorList {
    Tensor dx, dslope;
    if (want_dx) dx = Tensor(x.shape(), x.dtype(), x.device());
    if (want_dslope) dslope = Tensor(slope.shape(), x.dtype(), x.device());
    run_kernel("prelu", {&x, &slope, &dy[0]}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.prelu_backward(context, shape, x.data<T>(), slope.data<T>(), dy[0].data<T>(), data_or_null<T>(dx),
                       data_or_null<T>(dslope));
    });
    return {dx, dslope};
  });
  return y;
}

}  // namespace dnn
