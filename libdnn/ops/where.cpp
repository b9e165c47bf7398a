#include <libdnn/ops/where.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/binary.h>
#include <libdnn/ops/reduce.h>

namespace dnn {
namespace {

void check_condition(const Tensor& condition, const Tensor& a) {
  if (condition.dtype() != DType::boolean) {
    throw Error(fmt::format("[where] the condition must be a tensor of bools; got {}", name_of(condition.dtype())));
  }
  detail::check_one_device("where", {&condition, &a});
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_condition(condition, a);
  const Shape values = broadcast_shapes("where", a.shape(), b.shape());
  Tensor y(broadcast_shapes("where", condition.shape(), values), a.dtype(), a.device());
  run_kernel("where", {&a, &b}, [&]<class T>(const Kernels<T>& k, Context& context) {
    const TernaryShape shape = TernaryShape::of(condition.shape().begin(), condition.dims(), a.shape().begin(),
                                                a.dims(), b.shape().begin(), b.dims());
    k.where(context, shape, static_cast<const uint8_t*>(condition.raw_data()), a.data<T>(), b.data<T>(), y.data<T>());
  });

  if (!wants_grad({a, b})) return y;
  record("where", {a, b}, {y},
         [condition, want_da = wants_grad(a), want_db = wants_grad(b), a_shape = a.shape(),
          b_shape = b.shape()](const TensorList& dy) -> TensorList {
           Tensor da, db;
           if (want_da) da = sum_to(where(condition, dy[0], 0), a_shape);
           if (want_db) db = sum_to(where(condition, 0, dy[0]), b_shape);
           return {da, db};
         });
  return y;
}

Tensor where(const Tensor& condition, const Tensor& a, double b) {
  return where(condition, a, full({}, b, a.dtype(), a.device()));
}

Tensor where(const Tensor& condition, double a, const Tensor& b) {
  return where(condition, full({}, a, b.dtype(), b.device()), b);
}

}  // namespace dnn
