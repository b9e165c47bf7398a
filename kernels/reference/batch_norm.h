#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <kernels/backend.h>
#include <kernels/reference/epilogue.h>

namespace dnn::reference {

// Ioffe and Szegedy, "Batch normalization", 2015, for each column:
//   mean = sum of x / rows, var = sum of (x - mean)^2 / rows
//   y = activation((x - mean) / sqrt(var + eps) * weight + bias + residual)
// The running variance takes var * rows / (rows - 1). Without rows the statistics are those of mean 0 and var 0.
template <class T>
void batch_norm_forward(Context& context, const RowsShape& shape, const BatchNormParams& params, const T* x,
                        const T* weight_or_null, const Epilogue<T>& epilogue, T* running_mean_or_null,
                        T* running_var_or_null, T* y, T* mean, T* inv_std) {
  Workspace workspace(context);
  double* m = workspace.take<double>(shape.cols);
  double* var = workspace.take<double>(shape.cols);
  const double n = static_cast<double>(std::max<int64_t>(shape.rows, 1));
  if (params.training) {
    std::fill(m, m + shape.cols, 0.0);
    std::fill(var, var + shape.cols, 0.0);
    for (int64_t i = 0; i < shape.count(); ++i) m[i % shape.cols] += x[i] / n;
    for (int64_t i = 0; i < shape.count(); ++i) {
      const double d = x[i] - m[i % shape.cols];
      var[i % shape.cols] += d * d / n;
    }
  } else {
    std::copy_n(running_mean_or_null, shape.cols, m);
    std::copy_n(running_var_or_null, shape.cols, var);
  }
  for (int c = 0; c < shape.cols; ++c) {
    mean[c] = static_cast<T>(m[c]);
    inv_std[c] = static_cast<T>(1 / std::sqrt(var[c] + params.eps));
    if (!params.training || shape.rows == 0) continue;
    const double unbiased = var[c] * n / std::max(n - 1, 1.0), keep = 1 - params.momentum;
    if (running_mean_or_null) {
      running_mean_or_null[c] = static_cast<T>(keep * running_mean_or_null[c] + params.momentum * m[c]);
    }
    if (running_var_or_null) {
      running_var_or_null[c] = static_cast<T>(keep * running_var_or_null[c] + params.momentum * unbiased);
    }
  }
  for (int64_t i = 0; i < shape.count(); ++i) {
    const int c = static_cast<int>(i % shape.cols);
    const double weight = weight_or_null ? weight_or_null[c] : T{1};
    y[i] = finish(epilogue, (x[i] - m[c]) / std::sqrt(var[c] + params.eps) * weight, c, i);
  }
}

// With v = (x - mean) * inv_std: dbias = sum of dz, dweight = sum of dz * v, and in training, where the statistics
// depend on x too, dx = weight * inv_std * (dz - (dbias + v * dweight) / rows); else dx = weight * inv_std * dz.
template <class T>
void batch_norm_backward(Context& context, const RowsShape& shape, const BatchNormParams& params, Activation activation,
                         const T* x, const T* mean, const T* inv_std, const T* weight_or_null, const T* bias_or_null,
                         const T* y_or_null, const T* dy, T* dx_or_null, T* dresidual_or_null, T* dweight_or_null,
                         T* dbias_or_null) {
  const auto weight = [&](int c) -> double { return weight_or_null ? weight_or_null[c] : T{1}; };
  const auto v = [&](int64_t i, int c) -> double { return (double{x[i]} - mean[c]) * inv_std[c]; };
  const auto slope = [&](int64_t i, int c) -> double {
    if (activation == Activation::none) return 1;
    if (y_or_null) return unary_slope(activation, y_or_null[i]);
    const double z = v(i, c) * weight(c) + (bias_or_null ? bias_or_null[c] : T{0});
    return unary_slope(activation, slope_from_output(activation) ? unary(activation, z) : z);
  };
  Workspace workspace(context);
  double* sum = workspace.take<double>(shape.cols);
  double* product = workspace.take<double>(shape.cols);
  std::fill(sum, sum + shape.cols, 0.0);
  std::fill(product, product + shape.cols, 0.0);
  const double n = static_cast<double>(shape.rows);
  for (int64_t i = 0; i < shape.count(); ++i) {
    const int c = static_cast<int>(i % shape.cols);
    const double dz = dy[i] * slope(i, c);
    sum[c] += dz;
    product[c] += dz * v(i, c);
  }
  for (int64_t i = 0; i < shape.count(); ++i) {
    const int c = static_cast<int>(i % shape.cols);
    const double dz = dy[i] * slope(i, c);
    const double of_statistics = params.training ? (sum[c] + v(i, c) * product[c]) / n : 0;
    if (dresidual_or_null) dresidual_or_null[i] = static_cast<T>(dz);
    if (dx_or_null) dx_or_null[i] = static_cast<T>(weight(c) * inv_std[c] * (dz - of_statistics));
  }
  for (int c = 0; c < shape.cols; ++c) {
    if (dweight_or_null) dweight_or_null[c] = static_cast<T>(product[c]);
    if (dbias_or_null) dbias_or_null[c] = static_cast<T>(sum[c]);
  }
}

}  // namespace dnn::reference
