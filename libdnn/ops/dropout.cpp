#include <libdnn/ops/dropout.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/core/random.h>

namespace dnn {
namespace {

void run(const Tensor& x, double p, RandomState state, const Tensor& y) {
  run_kernel("dropout", {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.dropout(context, x.numel(), static_cast<float>(p), state, x.data<T>(), y.data<T>());
  });
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) {
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("[dropout] p must be from 0 to 1; got {}", p));
  if (!training || p == 0) return x;
  const RandomState state = next_random();
  Tensor y(x.shape(), x.dtype(), x.device());
  run(x, p, state, y);
  if (!wants_grad(x)) return y;
  record("dropout", {x}, {y}, [p, state](const TensorList& dy) -> TensorList {
    const Tensor dx = over_or_new(dy[0]);
    run(dy[0], p, state, dx);
    return {dx};
  });
  return y;
}

}  // namespace dnn
