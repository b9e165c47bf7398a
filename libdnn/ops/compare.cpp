#include <libdnn/ops/compare.h>

#include <fmt/format.h>

#include <limits>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/binary.h>
#include <libdnn/ops/functions.h>
#include <libdnn/ops/logical.h>

namespace dnn {
namespace {

Tensor compare(const char* op, CompareOp kind, const Tensor& a, const Tensor& b) {
  Tensor y(broadcast_shapes(op, a.shape(), b.shape()), DType::boolean, a.device());
  run_kernel(op, {&a, &b}, [&]<class T>(const Kernels<T>& k, Context& context) {
    const BroadcastShape shape = BroadcastShape::of(a.shape().begin(), a.dims(), b.shape().begin(), b.dims());
    k.compare(context, kind, shape, a.data<T>(), b.data<T>(), static_cast<uint8_t*>(y.raw_data()));
  });
  return y;
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) { return compare("eq", CompareOp::eq, a, b); }
Tensor ne(const Tensor& a, const Tensor& b) { return compare("ne", CompareOp::ne, a, b); }
Tensor lt(const Tensor& a, const Tensor& b) { return compare("lt", CompareOp::lt, a, b); }
Tensor le(const Tensor& a, const Tensor& b) { return compare("le", CompareOp::le, a, b); }
Tensor gt(const Tensor& a, const Tensor& b) { return compare("gt", CompareOp::gt, a, b); }
Tensor ge(const Tensor& a, const Tensor& b) { return compare("ge", CompareOp::ge, a, b); }
Tensor eq(const Tensor& a, double b) { return compare("eq", CompareOp::eq, a, full({}, b, a.dtype(), a.device())); }
Tensor ne(const Tensor& a, double b) { return compare("ne", CompareOp::ne, a, full({}, b, a.dtype(), a.device())); }
Tensor lt(const Tensor& a, double b) { return compare("lt", CompareOp::lt, a, full({}, b, a.dtype(), a.device())); }
Tensor le(const Tensor& a, double b) { return compare("le", CompareOp::le, a, full({}, b, a.dtype(), a.device())); }
Tensor gt(const Tensor& a, double b) { return compare("gt", CompareOp::gt, a, full({}, b, a.dtype(), a.device())); }
Tensor ge(const Tensor& a, double b) { return compare("ge", CompareOp::ge, a, full({}, b, a.dtype(), a.device())); }

Tensor isnan(const Tensor& x) { return compare("isnan", CompareOp::ne, x, x); }
Tensor isinf(const Tensor& x) { return eq(abs(x.detach()), std::numeric_limits<double>::infinity()); }
Tensor isfinite(const Tensor& x) { return lt(abs(x.detach()), std::numeric_limits<double>::infinity()); }

bool equal(const Tensor& a, const Tensor& b) {
  detail::check_operands("equal", {&a, &b});
  if (!(a.shape() == b.shape())) return false;
  if (a.dtype() == DType::float32 || a.dtype() == DType::float64) return all(eq(a, b)).item() != 0;
  return with_type(a.dtype(), [&]<class T>(T) { return a.to_vector<T>() == b.to_vector<T>(); });
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  if (!(rtol >= 0 && atol >= 0)) {
    throw Error(fmt::format("[allclose] tolerances are numbers from 0 on; got rtol {} and atol {}", rtol, atol));
  }
  const NoGrad no_grad;
  const Tensor difference = abs(binary("allclose", BinaryOp::sub, a, b)), allowed = abs(b) * rtol + atol;
  Tensor close = logical_or(eq(a, b), logical_and(isfinite(difference), le(difference, allowed)));
  if (equal_nan) close = logical_or(close, logical_and(isnan(a), isnan(b)));
  return all(close).item() != 0;
}

}  // namespace dnn
