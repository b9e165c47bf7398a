#pragma once
#include <libdnn/core/tensor.h>

namespace dnn {

// Element by element. Sizes that differ are broadcast by NumPy's rule: shapes are aligned at their last dimension, and
// a size of 1, or a missing dimension, repeats.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }

// One pass each, and none for the gradient of a sum.
Tensor operator+(const Tensor& a, double b);
Tensor operator-(const Tensor& a, double b);
Tensor operator*(const Tensor& a, double b);
Tensor operator/(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(double a, const Tensor& b);

Tensor operator-(const Tensor& a);

// a += b is a = a + b: the handle gets the new tensor, recorded as any; other copies of the handle keep the old one.
inline Tensor& operator+=(Tensor& a, const Tensor& b) { return a = a + b; }
inline Tensor& operator-=(Tensor& a, const Tensor& b) { return a = a - b; }
inline Tensor& operator*=(Tensor& a, const Tensor& b) { return a = a * b; }
inline Tensor& operator/=(Tensor& a, const Tensor& b) { return a = a / b; }
inline Tensor& operator+=(Tensor& a, double b) { return a = a + b; }
inline Tensor& operator-=(Tensor& a, double b) { return a = a - b; }
inline Tensor& operator*=(Tensor& a, double b) { return a = a * b; }
inline Tensor& operator/=(Tensor& a, double b) { return a = a / b; }

}  // namespace dnn
