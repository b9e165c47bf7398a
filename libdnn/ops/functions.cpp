#include <libdnn/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/unary.h>

namespace dnn {

Tensor exp(const Tensor& x) { return unary("exp", {UnaryOp::exp}, x); }
Tensor expm1(const Tensor& x) { return unary("expm1", {UnaryOp::expm1}, x); }
Tensor log(const Tensor& x) { return unary("log", {UnaryOp::log}, x); }
Tensor log1p(const Tensor& x) { return unary("log1p", {UnaryOp::log1p}, x); }
Tensor sqrt(const Tensor& x) { return unary("sqrt", {UnaryOp::sqrt}, x); }
Tensor rsqrt(const Tensor& x) { return unary("rsqrt", {UnaryOp::rsqrt}, x); }
Tensor abs(const Tensor& x) { return unary("abs", {UnaryOp::abs}, x); }
Tensor neg(const Tensor& x) { return unary("neg", {UnaryOp::neg}, x); }
Tensor sign(const Tensor& x) { return unary("sign", {UnaryOp::sign}, x); }
Tensor floor(const Tensor& x) { return unary("floor", {UnaryOp::floor}, x); }
Tensor ceil(const Tensor& x) { return unary("ceil", {UnaryOp::ceil}, x); }
Tensor round(const Tensor& x) { return unary("round", {UnaryOp::round}, x); }
Tensor sin(const Tensor& x) { return unary("sin", {UnaryOp::sin}, x); }
Tensor cos(const Tensor& x) { return unary("cos", {UnaryOp::cos}, x); }
Tensor erf(const Tensor& x) { return unary("erf", {UnaryOp::erf}, x); }
Tensor reciprocal(const Tensor& x) { return unary("reciprocal", {UnaryOp::reciprocal, 1}, x); }
Tensor square(const Tensor& x) { return unary("square", {UnaryOp::square}, x); }
Tensor pow(const Tensor& x, double exponent) { return unary("pow", {UnaryOp::pow, exponent, 1, -0.0}, x); }

Tensor clamp(const Tensor& x, double min, double max) {
  if (std::isnan(min) || std::isnan(max)) {
    throw Error(fmt::format("[clamp] min and max must be numbers; got {} and {}", min, max));
  }
  return unary("clamp", {UnaryOp::clamp, min, max}, x);
}

// A product adds -0, which changes no number, not even the sign of a 0.
Tensor operator+(const Tensor& a, double b) { return unary("add", {UnaryOp::affine, 1, b}, a); }
Tensor operator-(const Tensor& a, double b) { return unary("sub", {UnaryOp::affine, 1, -b}, a); }
Tensor operator*(const Tensor& a, double b) { return unary("mul", {UnaryOp::affine, b, -0.0}, a); }
Tensor operator/(const Tensor& a, double b) { return unary("div", {UnaryOp::divide, b}, a); }
Tensor operator+(double a, const Tensor& b) { return b + a; }
Tensor operator-(double a, const Tensor& b) { return unary("sub", {UnaryOp::affine, -1, a}, b); }
Tensor operator*(double a, const Tensor& b) { return b * a; }
Tensor operator/(double a, const Tensor& b) { return unary("div", {UnaryOp::reciprocal, a}, b); }

Tensor operator-(const Tensor& a) { return neg(a); }

}  // namespace dnn
