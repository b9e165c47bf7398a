#include <libdnn/ops/matmul.h>

#include <fmt/format.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

Tensor product(const GemmShape& shape, const Tensor& a, const Tensor& b) {
  Tensor c({shape.m, shape.n}, a.dtype(), a.device());
  run_kernel("matmul", {&a, &b}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.gemm(context, shape, a.data<T>(), b.data<T>(), {}, c.data<T>());
  });
  return c;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, bool trans_a, bool trans_b) {
  check_dims("matmul", "a", a, 2);
  check_dims("matmul", "b", b, 2);
  const int m = a.size(trans_a ? 1 : 0), k = a.size(trans_a ? 0 : 1), n = b.size(trans_b ? 0 : 1);
  if (b.size(trans_b ? 1 : 0) != k) {
    throw Error(fmt::format("[matmul] inner sizes must be equal; got {}{} and {}{}", a.shape().str(),
                            trans_a ? " transposed" : "", b.shape().str(), trans_b ? " transposed" : ""));
  }
  Tensor c = product({.m = m, .n = n, .k = k, .trans_a = trans_a, .trans_b = trans_b}, a, b);

  if (!wants_grad({a, b})) return c;
  const bool want_da = wants_grad(a), want_db = wants_grad(b);
  record("matmul", {a, b}, {c},
         [=, a = want_db ? a : Tensor(), b = want_da ? b : Tensor()](const TensorList& dc) -> TensorList {
           Tensor da, db;
           if (want_da && trans_a) {  // op(b) dc^T
             da = product({.m = k, .n = m, .k = n, .trans_a = trans_b, .trans_b = true}, b, dc[0]);
           } else if (want_da) {  // dc op(b)^T
             da = product({.m = m, .n = k, .k = n, .trans_b = !trans_b}, dc[0], b);
           }
           if (want_db && trans_b) {  // dc^T op(a)
             db = product({.m = n, .n = k, .k = m, .trans_a = true, .trans_b = trans_a}, dc[0], a);
           } else if (want_db) {  // op(a)^T dc
             db = product({.m = k, .n = n, .k = m, .trans_a = !trans_a}, a, dc[0]);
           }
           return {da, db};
         });
  return c;
}

}  // namespace dnn
