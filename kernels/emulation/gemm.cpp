#include <algorithm>
#include <vector>

#include "cublas.h"

// The products of cuBLAS: C = alpha * op(A) * op(B) + beta * C, for one or many matrices.
namespace emu {
namespace {

struct Gemm {
  const char* function;
  int device;
  bool a_transposed, b_transposed;
  int m, n, k;
  int lda, ldb, ldc;
  Scalar alpha, beta;

  static size_t bytes(int rows, int columns, int leading) {
    if (rows == 0 || columns == 0) return 0;
    return (static_cast<size_t>(leading) * static_cast<size_t>(columns - 1) + static_cast<size_t>(rows)) *
           sizeof(float);
  }
  size_t a_bytes() const { return a_transposed ? bytes(k, m, lda) : bytes(m, k, lda); }
  size_t b_bytes() const { return b_transposed ? bytes(n, k, ldb) : bytes(k, n, ldb); }
  size_t c_bytes() const { return bytes(m, n, ldc); }
};

struct Operands {
  const float *a, *b;
  float* c;
};

bool is_operation(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

// The documented conditions; null where they hold.
const char* shape_problem(const Gemm& gemm, cublasOperation_t a, cublasOperation_t b, const void* alpha,
                          const void* beta, int count) {
  if (!is_operation(a) || !is_operation(b)) return "no such operation";
  if (gemm.m < 0 || gemm.n < 0 || gemm.k < 0 || count < 0) return "a size is negative";
  if (gemm.lda < std::max(1, gemm.a_transposed ? gemm.k : gemm.m)) return "lda is less than A has rows";
  if (gemm.ldb < std::max(1, gemm.b_transposed ? gemm.n : gemm.k)) return "ldb is less than B has rows";
  if (gemm.ldc < std::max(1, gemm.m)) return "ldc is less than C has rows";
  if (alpha == nullptr || beta == nullptr) return "alpha or beta is null";
  return nullptr;
}

bool check_operands(const Gemm& gemm, const Operands& at) {
  const std::string name = gemm.function;
  if (!check_range(at.a, gemm.a_bytes(), gemm.device, (name + ", A").c_str()) ||
      !check_range(at.b, gemm.b_bytes(), gemm.device, (name + ", B").c_str()) ||
      !check_range(at.c, gemm.c_bytes(), gemm.device, (name + ", C").c_str())) {
    return false;
  }
  if (gemm.k > 0 && gemm.c_bytes() > 0 && (at.c == at.a || at.c == at.b)) {
    fault(cudaErrorIllegalAddress, "%s: C is also an operand", gemm.function);
    return false;
  }
  return true;
}

// One column of C. The ranges have been checked.
__attribute__((no_sanitize("address", "undefined"))) void add_column(const Gemm& gemm, float alpha, const float* a,
                                                                     const float* b_column, float* __restrict c) {
  const auto m = static_cast<size_t>(gemm.m), k = static_cast<size_t>(gemm.k), lda = static_cast<size_t>(gemm.lda);
  if (gemm.a_transposed) {
    for (size_t i = 0; i < m; ++i) {
      float sum = 0;
      for (size_t p = 0; p < k; ++p) sum += a[i * lda + p] * b_column[p];
      c[i] += alpha * sum;
    }
  } else {
    for (size_t p = 0; p < k; ++p) {
      const float factor = alpha * b_column[p];
      for (size_t i = 0; i < m; ++i) c[i] += a[p * lda + i] * factor;
    }
  }
}

void multiply(const Gemm& gemm, const Operands& at) {
  if (gemm.c_bytes() == 0) return;
  const auto* const a = static_cast<const float*>(device_view(at.a));
  const auto* const b = static_cast<const float*>(device_view(at.b));
  auto* const c = static_cast<float*>(device_view(at.c));
  const auto m = static_cast<size_t>(gemm.m), k = static_cast<size_t>(gemm.k), ldb = static_cast<size_t>(gemm.ldb);
  const float alpha = gemm.alpha.get(), beta = gemm.beta.get();
  std::vector<float> b_column(k);
  for (size_t j = 0; j < static_cast<size_t>(gemm.n); ++j) {
    float* const column = c + j * static_cast<size_t>(gemm.ldc);
    if (beta == 0) {  // what was there is not read: it may be a NaN
      std::fill_n(column, m, 0.0f);
    } else if (beta != 1) {
      for (size_t i = 0; i < m; ++i) column[i] *= beta;
    }
    if (alpha != 0 && k > 0) {
      for (size_t p = 0; p < k; ++p) b_column[p] = gemm.b_transposed ? b[p * ldb + j] : b[j * ldb + p];
      add_column(gemm, alpha, a, b_column.data(), column);
    }
    checker_written(column, m * sizeof(float));
  }
}

void run(const Gemm& gemm, const Operands& at) {
  if (check_operands(gemm, at)) multiply(gemm, at);
}

bool check_scalars(const Gemm& gemm) {
  return gemm.alpha.check(gemm.device, "alpha of cuBLAS") && gemm.beta.check(gemm.device, "beta of cuBLAS");
}

// Puts `run` into the handle's stream if the shape is right. Operands whose addresses are known now are checked now.
template <class Check, class Run>
cublasStatus_t put_gemm(cublasHandle_t handle, Gemm gemm, cublasOperation_t a, cublasOperation_t b, const float* alpha,
                        const float* beta, int count, Check check, Run run) {
  const std::lock_guard lock(model_mutex());
  const CublasState* const state = find_cublas(handle, gemm.function);
  if (state == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (device_error() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  gemm.device = state->device;
  gemm.a_transposed = a != CUBLAS_OP_N;
  gemm.b_transposed = b != CUBLAS_OP_N;
  if (const char* const problem = shape_problem(gemm, a, b, alpha, beta, count)) {
    return refuse_cublas(gemm.function, problem);
  }
  if (gemm.m == 0 || gemm.n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  gemm.alpha = Scalar::from(*state, alpha);
  gemm.beta = Scalar::from(*state, beta);
  if (const char* const problem = check(gemm)) return refuse_cublas(gemm.function, problem);
  if (device_error() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  enqueue(state->stream, [gemm, run] {
    if (check_scalars(gemm)) run(gemm);
  });
  return CUBLAS_STATUS_SUCCESS;
}

Gemm gemm_of(const char* function, int m, int n, int k, int lda, int ldb, int ldc) {
  return {function, 0, false, false, m, n, k, lda, ldb, ldc, {}, {}};
}

cublasStatus_t put_strided(cublasHandle_t handle, const Gemm& gemm, cublasOperation_t a, cublasOperation_t b,
                           const float* alpha, const float* beta, const Operands& first, long long a_stride,
                           long long b_stride, long long c_stride, int count) {
  const auto operands = [=](int i) {
    return Operands{first.a + i * a_stride, first.b + i * b_stride, first.c + i * c_stride};
  };
  const auto check = [=](const Gemm& whole) -> const char* {
    if (count > 1 && std::abs(c_stride) < whole.m) return "the results overlap";
    if (!check_scalars(whole)) return nullptr;
    for (int i = 0; i < count && check_operands(whole, operands(i)); ++i) {
    }
    return nullptr;
  };
  return put_gemm(handle, gemm, a, b, alpha, beta, count, check, [=](const Gemm& whole) {
    for (int i = 0; i < count; ++i) run(whole, operands(i));
  });
}

// A pointer in device memory is what a host or what a kernel wrote there.
template <class T>
T* pointer_of_table(T* const* table, int i) {
  T* const pointer = static_cast<T* const*>(device_view(table))[i];
  return is_device_view(pointer) ? const_cast<T*>(static_cast<const T*>(host_view(pointer))) : pointer;
}

}  // namespace

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m, int n, int k,
                           const float* alpha, const float* A, int lda, const float* B, int ldb, const float* beta,
                           float* C, int ldc) {
  return put_strided(handle, gemm_of("cublasSgemm", m, n, k, lda, ldb, ldc), a, b, alpha, beta, {A, B, C}, 0, 0, 0, 1);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m, int n,
                                         int k, const float* alpha, const float* A, int lda, long long A_stride,
                                         const float* B, int ldb, long long B_stride, const float* beta, float* C,
                                         int ldc, long long C_stride, int count) {
  return put_strided(handle, gemm_of("cublasSgemmStridedBatched", m, n, k, lda, ldb, ldc), a, b, alpha, beta, {A, B, C},
                     A_stride, B_stride, C_stride, count);
}

cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m, int n, int k,
                                  const float* alpha, const float* const A[], int lda, const float* const B[], int ldb,
                                  const float* beta, float* const C[], int ldc, int count) {
  const auto check_tables = [=](const Gemm& whole) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(void*);
    return check_range(A, bytes, whole.device, "cublasSgemmBatched, the pointers to A") &&
           check_range(B, bytes, whole.device, "cublasSgemmBatched, the pointers to B") &&
           check_range(C, bytes, whole.device, "cublasSgemmBatched, the pointers to C");
  };
  const auto check = [=](const Gemm& whole) -> const char* {
    check_tables(whole);
    return nullptr;
  };
  const Gemm gemm = gemm_of("cublasSgemmBatched", m, n, k, lda, ldb, ldc);
  return put_gemm(handle, gemm, a, b, alpha, beta, count, check, [=](const Gemm& whole) {
    if (!check_tables(whole)) return;
    for (int i = 0; i < count; ++i) {
      run(whole, {pointer_of_table(A, i), pointer_of_table(B, i), pointer_of_table(C, i)});
    }
  });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int m, int n, int k,
                            const void* alpha, const void* A, cudaDataType_t a_type, int lda, const void* B,
                            cudaDataType_t b_type, int ldb, const void* beta, void* C, cudaDataType_t c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  const bool single = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
                      compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  if (a_type != CUDA_R_32F || b_type != CUDA_R_32F || c_type != CUDA_R_32F || !single) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const Operands operands{static_cast<const float*>(A), static_cast<const float*>(B), static_cast<float*>(C)};
  return put_strided(handle, gemm_of("cublasGemmEx", m, n, k, lda, ldb, ldc), a, b, static_cast<const float*>(alpha),
                     static_cast<const float*>(beta), operands, 0, 0, 0, 1);
}

}  // namespace emu
