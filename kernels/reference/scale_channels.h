#pragma once
#include <kernels/backend.h>

// y[n, p, c] = x[n, p, c] * scale[n, c]: the excitation of Hu et al., arXiv 1709.01507.
namespace dnn::reference {

template <class T>
void scale_channels_forward(Context&, const ChannelScaleShape& shape, const T* x, const T* scale, T* y) {
  for (int64_t i = 0; i < shape.count(); ++i) {
    const int64_t n = i / (shape.pixels * shape.c), c = i % shape.c;
    y[i] = x[i] * scale[n * shape.c + c];
  }
}

// dx = dy * scale; dscale[n, c] = sum over p of x * dy
template <class T>
void scale_channels_backward(Context& context, const ChannelScaleShape& shape, const T* x, const T* scale, const T* dy,
                             T* dx_or_null, T* dscale_or_null) {
  if (dx_or_null) scale_channels_forward(context, shape, dy, scale, dx_or_null);
  if (!dscale_or_null) return;
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      double sum = 0;
      for (int64_t p = 0; p < shape.pixels; ++p) {
        const int64_t i = (n * shape.pixels + p) * shape.c + c;
        sum += static_cast<double>(x[i]) * dy[i];
      }
      dscale_or_null[n * shape.c + c] = static_cast<T>(sum);
    }
  }
}

}  // namespace dnn::reference
