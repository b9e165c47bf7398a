#include <libdnn/ops/var.h>

#include <algorithm>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/dispatch.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/compare.h>
#include <libdnn/ops/functions.h>
#include <libdnn/ops/reduced_dims.h>
#include <libdnn/ops/strided.h>
#include <libdnn/ops/where.h>

namespace dnn {
namespace {

// Not recorded.
VarAndMean moments(const char* op, const Tensor& x, const ReducedDims& reduced, double correction, bool keep_dims) {
  check_finite(op, "correction", correction);
  const Shape shape = reduced.result(keep_dims);
  const Tensor var(shape, x.dtype(), x.device()), mean(shape, x.dtype(), x.device());
  run_kernel(op, {&x}, [&]<class T>(const Kernels<T>& k, Context& context) {
    k.moments(context, reduced.shape(), correction, x.data<T>(), mean.data<T>(), var.data<T>());
  });
  return {var, mean};
}

// dvar, mean and the result have x's dimensions: dvar 2 (x - mean) / (values - correction).
Tensor var_backward(const Tensor& x, const Tensor& mean, double divisor, const Tensor& dvar) {
  return dvar * (2 / divisor) * (x - mean);
}

}  // namespace

Tensor var(const Tensor& x, const std::vector<int>& dims, double correction, bool keep_dims) {
  const ReducedDims reduced("var", x.shape(), dims);
  const auto [y, mean] = moments("var", x, reduced, correction, keep_dims);
  if (!wants_grad(x)) return y;
  const Shape kept = reduced.result(true);
  const double divisor = std::max(reduced.cells() - correction, 0.0);
  record("var", {x}, {y}, [x, kept, divisor, mean = in_shape(mean, kept)](const TensorList& dy) -> TensorList {
    return {var_backward(x, mean, divisor, in_shape(dy[0], kept))};
  });
  return y;
}

Tensor std(const Tensor& x, const std::vector<int>& dims, double correction, bool keep_dims) {
  const ReducedDims reduced("std", x.shape(), dims);
  const auto [var, mean] = moments("std", x, reduced, correction, keep_dims);
  const Tensor y = sqrt(var);
  if (!wants_grad(x)) return y;
  const Shape kept = reduced.result(true);
  const double divisor = std::max(reduced.cells() - correction, 0.0);
  record("std", {x}, {y},
         [x, kept, divisor, mean = in_shape(mean, kept), y = in_shape(y, kept)](const TensorList& dy) -> TensorList {
           const Tensor dvar = where(eq(y, 0), 0, in_shape(dy[0], kept) / (y * 2.0));
           return {var_backward(x, mean, divisor, dvar)};
         });
  return y;
}

VarAndMean var_mean(const Tensor& x, const std::vector<int>& dims, double correction, bool keep_dims) {
  const ReducedDims reduced("var_mean", x.shape(), dims);
  const VarAndMean y = moments("var_mean", x, reduced, correction, keep_dims);
  if (!wants_grad(x)) return y;
  const Shape kept = reduced.result(true);
  const double cells = reduced.cells(), divisor = std::max(cells - correction, 0.0);
  record("var_mean", {x}, {y.var, y.mean},
         [x, kept, cells, divisor, mean = in_shape(y.mean, kept)](const TensorList& dy) -> TensorList {
           Tensor dx = zeros(x.shape(), x.dtype(), x.device());
           if (dy[0].defined()) dx += var_backward(x, mean, divisor, in_shape(dy[0], kept));
           if (dy[1].defined()) dx += in_shape(dy[1], kept) / cells;
           return {dx};
         });
  return y;
}

}  // namespace dnn
