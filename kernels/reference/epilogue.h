#pragma once
#include <algorithm>
#include <cstdint>

#include <kernels/backend.h>
#include <kernels/reference/unary.h>

namespace dnn::reference {

// activation(result + bias[column] + residual[at])
template <class T>
T finish(const Epilogue<T>& epilogue, double result, int column, int64_t at) {
  if (epilogue.bias) result += epilogue.bias[column];
  if (epilogue.residual) result += epilogue.residual[at];
  return static_cast<T>(unary(epilogue.activation, result));
}

template <class T>
void epilogue(Context&, const RowsShape& shape, const Epilogue<T>& epilogue, const T* x, T* y) {
  for (int64_t i = 0; i < shape.count(); ++i) y[i] = finish(epilogue, x[i], static_cast<int>(i % shape.cols), i);
}

// dz = dy * activation'(z), dbias[column] = sum of dz over the rows
template <class T>
void epilogue_backward(Context& context, const RowsShape& shape, Activation activation, const T* y, const T* dy, T* dz,
                       T* dbias_or_null) {
  const auto slope = [&](int64_t i) {
    return activation == Activation::none ? T{1} : unary_slope(activation, y[i]);
  };
  Workspace workspace(context);
  double* sum = workspace.take<double>(shape.cols);
  std::fill(sum, sum + shape.cols, 0.0);
  for (int64_t i = 0; i < shape.count(); ++i) {
    const T gradient = dy[i] * slope(i);
    sum[i % shape.cols] += gradient;
    if (dz) dz[i] = gradient;
  }
  if (!dbias_or_null) return;
  for (int col = 0; col < shape.cols; ++col) dbias_or_null[col] = static_cast<T>(sum[col]);
}

}  // namespace dnn::reference
