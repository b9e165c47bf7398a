#pragma once
#include <algorithm>
#include <cstdint>

#include <kernels/backend.h>

namespace dnn::reference {

// He, Zhang, Ren and Sun, "Delving deep into rectifiers", 2015: y = x > 0 ? x : slope * x, a slope for each column.
template <class T>
void prelu_forward(Context&, const RowsShape& shape, const T* x, const T* slope, T* y) {
  for (int64_t i = 0; i < shape.count(); ++i) y[i] = x[i] > 0 ? x[i] : slope[i % shape.cols] * x[i];
}

// dx = x > 0 ? dy : slope * dy, dslope = sum of dy * x over the rows where x is not above 0.
template <class T>
void prelu_backward(Context& context, const RowsShape& shape, const T* x, const T* slope, const T* dy, T* dx_or_null,
                    T* dslope_or_null) {
  Workspace workspace(context);
  double* sum = workspace.take<double>(shape.cols);
  std::fill(sum, sum + shape.cols, 0.0);
  for (int64_t i = 0; i < shape.count(); ++i) {
    const int64_t c = i % shape.cols;
    const T gradient = dy[i];
    if (!(x[i] > 0)) sum[c] += double{gradient} * x[i];
    if (dx_or_null) dx_or_null[i] = x[i] > 0 ? gradient : slope[c] * gradient;
  }
  if (!dslope_or_null) return;
  for (int c = 0; c < shape.cols; ++c) dslope_or_null[c] = static_cast<T>(sum[c]);
}

}  // namespace dnn::reference
