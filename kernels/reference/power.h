#pragma once
#include <cmath>
#include <cstdint>

#include <kernels/backend.h>

namespace dnn::reference {

// y = (shift + scale * x) ^ power
template <class T>
void power_forward(Context&, const PowerParams& params, int64_t count, const T* x, T* y) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = static_cast<T>(std::pow(params.shift + params.scale * x[i], params.power));
  }
}

// dx = dy * power * scale * (shift + scale * x) ^ (power - 1), and 0 where y does not depend on x.
template <class T>
void power_backward(Context&, const PowerParams& params, int64_t count, const T* x, const T* dy, T* dx) {
  const double factor = params.power * params.scale;
  for (int64_t i = 0; i < count; ++i) {
    const double slope = factor == 0 ? 0 : factor * std::pow(params.shift + params.scale * x[i], params.power - 1);
    dx[i] = static_cast<T>(dy[i] * slope);
  }
}

}  // namespace dnn::reference
