#pragma once
#include <kernels/backend.h>
#include <kernels/reference/epilogue.h>
#include <kernels/reference/rows.h>

namespace dnn::reference {

// c[i, j] = activation(alpha * sum over p of op(a)[i, p] * op(b)[p, j] + beta * c[i, j] + bias[j] + residual[i, j]),
// the residual laid out as c; for each product of the batch.
template <class T>
void gemm(Context& context, const GemmShape& shape, const T* a, const T* b, const Epilogue<T>& epilogue, T* c) {
  const int64_t lda = shape.a_pitch(), ldb = shape.b_pitch(), ldc = shape.c_pitch();
  const int64_t a_row = shape.trans_a ? 1 : lda, a_col = shape.trans_a ? lda : 1;
  const int64_t b_row = shape.trans_b ? 1 : ldb, b_col = shape.trans_b ? ldb : 1;
  for_each_row(context, shape.batch * shape.m, int64_t{shape.n} * shape.k, [&](int64_t row, int) {
    const int64_t product = row / shape.m, i = row % shape.m;
    const T* a_first = a + product * shape.a_stride + i * a_row;
    const T* b_first = b + product * shape.b_stride;
    for (int j = 0; j < shape.n; ++j) {
      double sum = 0;
      for (int p = 0; p < shape.k; ++p) sum += static_cast<double>(a_first[p * a_col]) * b_first[p * b_row + j * b_col];
      const int64_t at = product * shape.c_step() + i * ldc + j;
      double result = shape.alpha * sum;
      if (shape.beta != 0) result += shape.beta * c[at];
      c[at] = finish(epilogue, result, j, at);
    }
  });
}

// The reference's layout is op(b), dense.
template <class T>
int64_t gemm_packed_size(Context&, const GemmShape& shape) {
  return int64_t{shape.k} * shape.n;
}

template <class T>
void gemm_pack_b(Context&, const GemmShape& shape, const T* b, T* packed) {
  const int64_t row = shape.trans_b ? 1 : shape.b_pitch(), col = shape.trans_b ? shape.b_pitch() : 1;
  for (int64_t p = 0; p < shape.k; ++p) {
    for (int64_t j = 0; j < shape.n; ++j) packed[p * shape.n + j] = b[p * row + j * col];
  }
}

template <class T>
void gemm_packed_b(Context& context, const GemmShape& shape, const T* a, const T* packed, const Epilogue<T>& epilogue,
                   T* c) {
  GemmShape dense = shape;
  dense.trans_b = false;
  dense.ldb = 0;
  gemm(context, dense, a, packed, epilogue, c);
}

}  // namespace dnn::reference
