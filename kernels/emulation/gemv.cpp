#include <algorithm>
#include <cstdlib>

#include "cublas.h"

namespace emu {
namespace {

struct Gemv {
  int device;
  bool transposed;
  int m, n, lda, x_step, y_step;
  const float *a, *x;
  float* y;
  Scalar alpha, beta;

  int x_size() const { return transposed ? m : n; }
  int y_size() const { return transposed ? n : m; }
};

size_t vector_bytes(int size, int step) {
  return size == 0 ? 0 : (static_cast<size_t>(size - 1) * static_cast<size_t>(std::abs(step)) + 1) * sizeof(float);
}

bool check(const Gemv& gemv) {
  const size_t a_elements =
      static_cast<size_t>(gemv.lda) * static_cast<size_t>(gemv.n - 1) + static_cast<size_t>(gemv.m);
  return gemv.alpha.check(gemv.device, "alpha of cuBLAS") && gemv.beta.check(gemv.device, "beta of cuBLAS") &&
         check_range(gemv.a, a_elements * sizeof(float), gemv.device, "cublasSgemv, A") &&
         check_range(gemv.x, vector_bytes(gemv.x_size(), gemv.x_step), gemv.device, "cublasSgemv, x") &&
         check_range(gemv.y, vector_bytes(gemv.y_size(), gemv.y_step), gemv.device, "cublasSgemv, y");
}

// Where the element is; with a negative step the first one is the last in memory.
ptrdiff_t place(int i, int size, int step) { return static_cast<ptrdiff_t>(step > 0 ? i : i - (size - 1)) * step; }

void run(const Gemv& gemv) {
  if (!check(gemv)) return;
  const auto* const a = static_cast<const float*>(device_view(gemv.a));
  const auto* const x = static_cast<const float*>(device_view(gemv.x));
  auto* const y = static_cast<float*>(device_view(gemv.y));
  const float alpha = gemv.alpha.get(), beta = gemv.beta.get();
  for (int i = 0; i < gemv.y_size(); ++i) {
    float sum = 0;
    for (int j = 0; alpha != 0 && j < gemv.x_size(); ++j) {
      const auto row = static_cast<size_t>(gemv.transposed ? j : i),
                 column = static_cast<size_t>(gemv.transposed ? i : j);
      sum += a[column * static_cast<size_t>(gemv.lda) + row] * x[place(j, gemv.x_size(), gemv.x_step)];
    }
    float& result = y[place(i, gemv.y_size(), gemv.y_step)];
    result = beta == 0 ? alpha * sum : alpha * sum + beta * result;
    checker_written(&result, sizeof result);
  }
}

}  // namespace

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n, const float* alpha,
                           const float* A, int lda, const float* x, int incx, const float* beta, float* y, int incy) {
  const std::lock_guard lock(model_mutex());
  const CublasState* const state = find_cublas(handle, "cublasSgemv");
  if (state == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (device_error() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T && operation != CUBLAS_OP_C) {
    return refuse_cublas("cublasSgemv", "no such operation");
  }
  if (m < 0 || n < 0) return refuse_cublas("cublasSgemv", "a size is negative");
  if (incx == 0 || incy == 0) return refuse_cublas("cublasSgemv", "a step is 0");
  if (lda < std::max(1, m)) return refuse_cublas("cublasSgemv", "lda is less than A has rows");
  if (alpha == nullptr || beta == nullptr) return refuse_cublas("cublasSgemv", "alpha or beta is null");
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const Gemv gemv{state->device,
                  operation != CUBLAS_OP_N,
                  m,
                  n,
                  lda,
                  incx,
                  incy,
                  A,
                  x,
                  y,
                  Scalar::from(*state, alpha),
                  Scalar::from(*state, beta)};
  if (!check(gemv)) return CUBLAS_STATUS_EXECUTION_FAILED;
  enqueue(state->stream, [gemv] { run(gemv); });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace emu
