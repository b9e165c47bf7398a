#include <libdnn/ops/pow.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/binary.h>
#include <libdnn/ops/compare.h>
#include <libdnn/ops/functions.h>
#include <libdnn/ops/logical.h>
#include <libdnn/ops/reduce.h>
#include <libdnn/ops/where.h>

namespace dnn {

// da = dy b a^(b - 1), 0 where b is; db = dy y log(a), 0 where a is and y is not infinite.
Tensor pow(const Tensor& a, const Tensor& b) {
  Tensor y = binary("pow", BinaryOp::pow, a, b);
  if (!wants_grad({a, b})) return y;
  const bool want_da = wants_grad(a), want_db = wants_grad(b);
  record("pow", {a, b}, {y}, [=, y = want_db ? y.detach() : Tensor()](const TensorList& dy) -> TensorList {
    Tensor da, db;
    if (want_da) da = sum_to(where(eq(b, 0), 0, dy[0] * (b * pow(a, b - 1))), a.shape());
    if (want_db) {
      const Tensor constant = logical_and(eq(a, 0), ge(b, 0));
      db = sum_to(where(constant, 0, dy[0] * (y * log(a))), b.shape());
    }
    return {da, db};
  });
  return y;
}

Tensor pow(double a, const Tensor& b) { return pow(full({}, a, b.dtype(), b.device()), b); }

}  // namespace dnn
