#include <libdnn/ops/maximum.h>

#include <libdnn/autograd/tape.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/binary.h>
#include <libdnn/ops/compare.h>
#include <libdnn/ops/reduce.h>
#include <libdnn/ops/where.h>

namespace dnn {
namespace {

// lost(a, b) says where b is the result, and a's gradient 0. Beside a NaN neither is lost.
Tensor extreme(const char* op, BinaryOp kind, const Tensor& a, const Tensor& b,
               Tensor (*lost)(const Tensor&, const Tensor&)) {
  Tensor y = binary(op, kind, a, b);
  if (!wants_grad({a, b})) return y;
  record(op, {a, b}, {y},
         [lost, a, b, want_da = wants_grad(a), want_db = wants_grad(b)](const TensorList& dy) -> TensorList {
           const Tensor shared = where(eq(a, b), dy[0] * 0.5, dy[0]);
           Tensor da, db;
           if (want_da) da = sum_to(where(lost(a, b), 0, shared), a.shape());
           if (want_db) db = sum_to(where(lost(b, a), 0, shared), b.shape());
           return {da, db};
         });
  return y;
}

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) { return extreme("maximum", BinaryOp::max, a, b, lt); }
Tensor minimum(const Tensor& a, const Tensor& b) { return extreme("minimum", BinaryOp::min, a, b, gt); }
Tensor maximum(const Tensor& a, double b) { return maximum(a, full({}, b, a.dtype(), a.device())); }
Tensor minimum(const Tensor& a, double b) { return minimum(a, full({}, b, a.dtype(), a.device())); }

}  // namespace dnn
