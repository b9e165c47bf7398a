#include <libdnn/ops/arithmetic.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/binary.h>
#include <libdnn/ops/reduce.h>

namespace dnn {

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = binary("add", BinaryOp::add, a, b);
  if (!wants_grad({a, b})) return y;
  record("add", {a, b}, {y},
         [want_da = wants_grad(a), want_db = wants_grad(b), a_shape = a.shape(),
          b_shape = b.shape()](const TensorList& dy) -> TensorList {
           return {want_da ? sum_to(dy[0], a_shape) : Tensor(), want_db ? sum_to(dy[0], b_shape) : Tensor()};
         });
  return y;
}

Tensor sub(const Tensor& a, const Tensor& b) {
  Tensor y = binary("sub", BinaryOp::sub, a, b);
  if (!wants_grad({a, b})) return y;
  record("sub", {a, b}, {y},
         [want_da = wants_grad(a), want_db = wants_grad(b), a_shape = a.shape(),
          b_shape = b.shape()](const TensorList& dy) -> TensorList {
           return {want_da ? sum_to(dy[0], a_shape) : Tensor(), want_db ? -sum_to(dy[0], b_shape) : Tensor()};
         });
  return y;
}

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor y = binary("mul", BinaryOp::mul, a, b);
  if (!wants_grad({a, b})) return y;
  const bool want_da = wants_grad(a), want_db = wants_grad(b);
  record("mul", {a, b}, {y},
         [=, a_shape = a.shape(), b_shape = b.shape(), a = want_db ? a : Tensor(),
          b = want_da ? b : Tensor()](const TensorList& dy) -> TensorList {
           Tensor da, db;
           if (want_da) da = sum_to(dy[0] * b, a_shape);
           if (want_db) db = sum_to(dy[0] * a, b_shape);
           return {da, db};
         });
  return y;
}

// d(a / b) = da / b - (a / b) db / b
Tensor div(const Tensor& a, const Tensor& b) {
  Tensor y = binary("div", BinaryOp::div, a, b);
  if (!wants_grad({a, b})) return y;
  const bool want_da = wants_grad(a), want_db = wants_grad(b);
  record("div", {a, b}, {y},
         [=, a_shape = a.shape(), y = want_db ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
           const Tensor quotient = dy[0] / b;
           Tensor da, db;
           if (want_da) da = sum_to(quotient, a_shape);
           if (want_db) db = -sum_to(quotient * y, b.shape());
           return {da, db};
         });
  return y;
}

}  // namespace dnn
