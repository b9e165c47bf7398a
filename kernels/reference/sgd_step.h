#pragma once
#include <kernels/backend.h>

namespace dnn::reference {

// Stochastic gradient descent with momentum, as torch.optim.SGD without dampening (Sutskever et al., "On the importance
// of initialization and momentum in deep learning", 2013); the velocity starts as zeros.
template <class T>
void sgd_step(Context& context, int64_t count, const SgdParams& params, const T* dw, T* velocity_or_null, T* w) {
  if (!context.status->ok()) return;
  const T lr = static_cast<T>(params.lr), momentum = static_cast<T>(params.momentum);
  const T weight_decay = static_cast<T>(params.weight_decay);
  for (int64_t i = 0; i < count; ++i) {
    const T g = dw[i] + weight_decay * w[i];
    T step = g;
    if (velocity_or_null) {
      T& v = velocity_or_null[i];
      v = momentum * v + g;
      step = params.nesterov ? g + momentum * v : v;
    }
    w[i] -= lr * step;
  }
}

}  // namespace dnn::reference
