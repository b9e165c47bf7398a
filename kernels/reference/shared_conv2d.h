#pragma once
#include <algorithm>

#include <kernels/reference/conv2d.h>

// A depthwise convolution whose filters are all the same w[r, s] and whose biases are all the same number: the
// "subsample" layer of LeNet-5's kind (LeCun et al., "Gradient-based learning applied to document recognition", 1998).
namespace dnn::reference {

namespace detail {

inline Conv2dShape depthwise(const Conv2dShape& shape) {
  Conv2dShape each = shape;
  each.groups = shape.c;
  return each;
}

// `count` copies of the `size` values, one behind the other.
template <class T>
T* repeated(Workspace& workspace, const T* values, int64_t size, int count) {
  T* copies = workspace.take<T>(size * count);
  for (int i = 0; i < count; ++i) std::copy(values, values + size, copies + i * size);
  return copies;
}

}  // namespace detail

template <class T>
void shared_conv2d_forward(Context& context, const Conv2dShape& shape, const T* x, const T* w, const T* bias_or_null,
                           Activation activation, T* y) {
  Workspace workspace(context);
  Epilogue<T> epilogue;
  epilogue.activation = activation;
  if (bias_or_null) epilogue.bias = detail::repeated(workspace, bias_or_null, 1, shape.c);
  const T* filters = detail::repeated(workspace, w, int64_t{shape.r} * shape.s, shape.c);
  conv2d_forward(context, detail::depthwise(shape), x, filters, epilogue, y);
}

template <class T>
void shared_conv2d_backward_input(Context& context, const Conv2dShape& shape, const T* dy, const T* w, T* dx) {
  Workspace workspace(context);
  const T* filters = detail::repeated(workspace, w, int64_t{shape.r} * shape.s, shape.c);
  conv2d_backward_input(context, detail::depthwise(shape), dy, filters, dx);
}

// dw = the sum over the channels of their filters' gradients, dbias = the sum of dy.
template <class T>
void shared_conv2d_backward_weight(Context& context, const Conv2dShape& shape, const T* x, const T* dy, T* dw,
                                   T* dbias_or_null) {
  const int64_t cells = int64_t{shape.r} * shape.s;
  Workspace workspace(context);
  T* filters = workspace.take<T>(cells * shape.c);
  conv2d_backward_weight(context, detail::depthwise(shape), x, dy, filters);
  for (int64_t cell = 0; cell < cells; ++cell) {
    double sum = 0;
    for (int c = 0; c < shape.c; ++c) sum += filters[c * cells + cell];
    dw[cell] = static_cast<T>(sum);
  }
  if (!dbias_or_null) return;
  double sum = 0;
  for (int64_t pixel = 0; pixel < shape.y_pixels(); ++pixel) {
    for (int c = 0; c < shape.c; ++c) sum += dy[pixel * shape.y_pitch() + c];
  }
  *dbias_or_null = static_cast<T>(sum);
}

}  // namespace dnn::reference
