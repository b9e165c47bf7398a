#pragma once
#include <limits>

#include <libdnn/core/tensor.h>

namespace dnn {

// Element by element; y has x's shape. Results and slopes are torch's, of infinities and NaN too.
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);  // exp(x) - 1
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);  // log(1 + x)
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);  // 1 / sqrt(x)
Tensor abs(const Tensor& x);    // slope 0 at 0
Tensor neg(const Tensor& x);
Tensor sign(const Tensor& x);  // -1, 0 or 1; slope 0, as of the next three
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);  // halves to the even neighbor
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor reciprocal(const Tensor& x);  // 1 / x
Tensor square(const Tensor& x);
// NaN for the fraction of a power of a negative number. See also power().
Tensor pow(const Tensor& x, double exponent);
// min(max(x, min), max); slope 1 at the bounds.
Tensor clamp(const Tensor& x, double min, double max = std::numeric_limits<double>::infinity());

}  // namespace dnn
