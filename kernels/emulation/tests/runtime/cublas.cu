#include <cublas_v2.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "host_support.h"

using namespace emu_test;

namespace {

constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

struct Handle {
  Handle() { cublasCreate(&handle); }
  ~Handle() { cublasDestroy(handle); }
  operator cublasHandle_t() const { return handle; }
  cublasHandle_t handle = nullptr;
};

// Values that are exact in float, as are their products' sums.
std::vector<float> values(size_t count, int start) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = static_cast<float>((static_cast<int>(i) * 7 + start) % 11 - 5);
  return result;
}

struct Matrices {
  int m, n, k, lda, ldb, ldc;
  bool ta, tb;
  std::vector<float> a, b, c;

  Matrices(int rows, int columns, int inner, bool a_transposed, bool b_transposed)
      : m(rows), n(columns), k(inner), ta(a_transposed), tb(b_transposed) {
    lda = (ta ? k : m) + 2, ldb = (tb ? n : k) + 1, ldc = m + 3;
    a = values(static_cast<size_t>(lda * (ta ? m : k)), 3);
    b = values(static_cast<size_t>(ldb * (tb ? k : n)), 5);
    c = values(static_cast<size_t>(ldc * n), 1);
  }
  std::vector<float> product(float alpha, float beta) const {
    std::vector<float> result = c;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int p = 0; p < k; ++p) {
          sum += double(a[static_cast<size_t>(ta ? p + i * lda : i + p * lda)]) *
                 b[static_cast<size_t>(tb ? j + p * ldb : p + j * ldb)];
        }
        float& at = result[static_cast<size_t>(i + j * ldc)];
        at = static_cast<float>(alpha * sum + (beta == 0 ? 0 : beta * at));
      }
    }
    return result;
  }
};

__global__ void write_pointers(float** table, float* first, int step, int count) {
  for (int i = 0; i < count; ++i) table[i] = first + i * step;
}

}  // namespace

TEST_CASE("cublasSgemm and cublasGemmEx, all operations", "[cublas]") {
  const Handle handle;
  for (const cublasOperation_t ta : kOperations) {
    for (const cublasOperation_t tb : kOperations) {
      Matrices matrices(5, 4, 6, ta != CUBLAS_OP_N, tb != CUBLAS_OP_N);
      for (const float beta : {0.0f, 1.0f, -0.5f}) {
        const float alpha = 2;
        float* const a = to_device(matrices.a);
        float* const b = to_device(matrices.b);
        float* const c = to_device(matrices.c);
        float* const d = to_device(matrices.c);
        CHECK(cublasSgemm(handle, ta, tb, 5, 4, 6, &alpha, a, matrices.lda, b, matrices.ldb, &beta, c, matrices.ldc) ==
              CUBLAS_STATUS_SUCCESS);
        CHECK(cublasGemmEx(handle, ta, tb, 5, 4, 6, &alpha, a, CUDA_R_32F, matrices.lda, b, CUDA_R_32F, matrices.ldb,
                           &beta, d, CUDA_R_32F, matrices.ldc, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
        const std::vector<float> expected = matrices.product(alpha, beta);
        CHECK(to_host(c, expected.size()) == expected);
        CHECK(to_host(d, expected.size()) == expected);
        for (float* data : {a, b, c, d}) cudaFree(data);
      }
    }
  }
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("With beta 0 C is not read, with alpha 0 or without a sum not A and B", "[cublas]") {
  const Handle handle;
  auto* const nan = device_array<float>(4);
  auto* const c = device_array<float>(4);  // NaN too
  float* const ones = to_device<float>({1, 1, 1, 1});
  const float one = 1, zero = 0, two = 2;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, ones, 2, ones, 2, &zero, c, 2);
  CHECK(to_host(c, 4) == std::vector<float>{2, 2, 2, 2});
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &zero, nan, 2, nan, 2, &two, c, 2);
  CHECK(to_host(c, 4) == std::vector<float>{4, 4, 4, 4});
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, &one, nan, 2, nan, 1, &two, c, 2);
  CHECK(to_host(c, 4) == std::vector<float>{8, 8, 8, 8});
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 2, &one, nan, 1, nan, 2, &two, c, 1) ==
        CUBLAS_STATUS_SUCCESS);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, ones, 2, nan, 2, &zero, c, 2);
  CHECK(std::isnan(to_host(c, 4)[3]));
  for (float* data : {nan, c, ones}) cudaFree(data);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("Many products in one call", "[cublas]") {
  const Handle handle;
  const Matrices matrices(3, 2, 4, false, true);
  const float alpha = 1, beta = 0;
  std::vector<float> a, b;
  for (int i = 0; i < 3; ++i) {
    a.insert(a.end(), matrices.a.begin(), matrices.a.end());
    b.insert(b.end(), matrices.b.begin(), matrices.b.end());
  }
  float* const A = to_device(a);
  float* const B = to_device(b);
  const size_t c_size = matrices.c.size();
  auto* const C = device_array<float>(3 * c_size);
  const int a_step = static_cast<int>(matrices.a.size()), b_step = static_cast<int>(matrices.b.size()),
            c_step = static_cast<int>(c_size);
  const auto check_all = [&] {
    const std::vector<float> result = to_host(C, 3 * c_size), expected = matrices.product(alpha, beta);
    for (int each = 0; each < 3; ++each) {
      for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 3; ++i) {
          const auto at = static_cast<size_t>(i + j * matrices.ldc);
          CHECK(result[static_cast<size_t>(each) * c_size + at] == expected[at]);
        }
      }
    }
  };
  SECTION("at a stride") {
    CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 3, 2, 4, &alpha, A, matrices.lda, a_step, B,
                                    matrices.ldb, b_step, &beta, C, matrices.ldc, c_step, 3) == CUBLAS_STATUS_SUCCESS);
    check_all();
  }
  SECTION("of the same matrices") {
    CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 3, 2, 4, &alpha, A, matrices.lda, 0, B,
                                    matrices.ldb, 0, &beta, C, matrices.ldc, c_step, 3) == CUBLAS_STATUS_SUCCESS);
    check_all();
  }
  SECTION("at addresses that the host or a kernel wrote") {
    std::vector<float*> table;
    for (int i = 0; i < 3; ++i) table.push_back(A + i * a_step);
    float** const A_table = to_device(table);
    auto** const B_table = device_array<float*>(3);
    auto** const C_table = device_array<float*>(3);
    launch(write_pointers, 1, 1, 0, nullptr, B_table, B, b_step, 3);
    launch(write_pointers, 1, 1, 0, nullptr, C_table, C, c_step, 3);
    CHECK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 3, 2, 4, &alpha, A_table, matrices.lda, B_table,
                             matrices.ldb, &beta, C_table, matrices.ldc, 3) == CUBLAS_STATUS_SUCCESS);
    check_all();
    for (float** data : {A_table, B_table, C_table}) cudaFree(data);
  }
  for (float* data : {A, B, C}) cudaFree(data);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("cublasSgemv", "[cublas]") {
  const Handle handle;
  // A = (1 3 5; 2 4 6)
  float* const a = to_device<float>({1, 2, 3, 4, 5, 6});
  float* const x = to_device<float>({1, 0, 2, 0, 3});
  float* const y = to_device<float>({10, 20, 30});
  const float one = 1, zero = 0, two = 2;
  CHECK(cublasSgemv(handle, CUBLAS_OP_N, 2, 3, &one, a, 2, x, 2, &two, y, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(to_host(y, 3) == std::vector<float>{20 + 22, 40 + 28, 30});
  CHECK(cublasSgemv(handle, CUBLAS_OP_T, 2, 3, &one, a, 2, x, 2, &zero, y, -1) == CUBLAS_STATUS_SUCCESS);
  CHECK(to_host(y, 3) == std::vector<float>{5 + 12, 3 + 8, 1 + 4});
  CHECK(cublasSgemv(handle, CUBLAS_OP_T, 2, 3, &one, a, 2, x, -2, &zero, y, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(to_host(y, 3) == std::vector<float>{2 + 2, 6 + 4, 10 + 6});
  for (float* data : {a, x, y}) cudaFree(data);
  CHECK(emu::fault_count() == 0);
}

TEST_CASE("alpha and beta may be in device memory, and are read when the product runs", "[cublas]") {
  const Streams deferred(true);
  const Handle handle;
  float* const scalars = to_device<float>({3, 1});
  float* const ones = to_device<float>({1, 1, 1, 1});
  float* const c = to_device<float>({1, 1, 1, 1});
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, scalars, ones, 2, ones, 2, scalars + 1, c, 2);
  cudaMemset(scalars, 0, 8);  // comes after
  CHECK(to_host(c, 4) == std::vector<float>{7, 7, 7, 7});
  const ExpectFaults expect;
  const float on_host = 1;
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &on_host, ones, 2, ones, 2, scalars, c, 2) ==
        CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK(emu::fault_count() == 1);
  emu::clear_faults();
  for (float* data : {scalars, ones, c}) cudaFree(data);
}

TEST_CASE("Products run in the handle's stream", "[cublas]") {
  const Streams deferred(true);
  const Handle handle;
  cudaStream_t stream, same = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  CHECK(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGetStream(handle, &same) == CUBLAS_STATUS_SUCCESS);
  CHECK(same == stream);
  float* const ones = to_device<float>({1});
  auto* const c = device_array<float>(1);
  float* const pinned = pinned_array(1, 0.0f);
  cudaDeviceSynchronize();
  float alpha = 4, beta = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, ones, 1, ones, 1, &beta, c, 1);
  alpha = 8;  // was read at the call
  cudaMemcpyAsync(pinned, c, 4, cudaMemcpyDeviceToHost, stream);
  CHECK(std::isnan(*pinned));
  cudaStreamSynchronize(stream);
  CHECK(*pinned == 4);
  cudaFree(ones);
  cudaFree(c);
  cudaFreeHost(pinned);
  cudaStreamDestroy(stream);
}

TEST_CASE("cuBLAS refuses what its manual says it does", "[cublas]") {
  const ExpectFaults expect;
  const Handle handle;
  auto* const data = device_array<float>(100);
  const float one = 1;
  const auto gemm = [&](int m, int n, int k, int lda, int ldb, int ldc, cublasOperation_t a = CUBLAS_OP_N,
                        cublasOperation_t b = CUBLAS_OP_N) {
    return cublasSgemm(handle, a, b, m, n, k, &one, data, lda, data + 30, ldb, &one, data + 60, ldc);
  };
  CHECK(gemm(4, 3, 2, 4, 2, 4) == CUBLAS_STATUS_SUCCESS);
  CHECK(emu::fault_count() == 0);
  CHECK(gemm(-1, 3, 2, 4, 2, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, -1, 2, 4, 2, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, 3, -1, 4, 2, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, 3, 2, 3, 2, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, 3, 2, 1, 2, 4, CUBLAS_OP_T) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, 3, 2, 4, 1, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, 3, 2, 4, 2, 4, CUBLAS_OP_N, CUBLAS_OP_T) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, 3, 2, 4, 2, 3) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(0, 3, 2, 0, 2, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(4, 3, 2, 4, 2, 4, static_cast<cublasOperation_t>(9)) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(emu::fault_count() == 10);
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, nullptr, data, 1, data, 1, &one, data, 1) ==
        CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, data, 2, 0, data + 8, 2, 0, &one,
                                  data + 16, 2, 0, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSgemv(handle, CUBLAS_OP_N, 2, 2, &one, data, 2, data, 0, &one, data, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSgemv(handle, CUBLAS_OP_N, 2, 2, &one, data, 1, data, 1, &one, data, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetWorkspace(handle, data + 1, 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetWorkspace(handle, data, 400) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSetMathMode(handle, static_cast<cublasMath_t>(77)) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, data, CUDA_R_16F, 1, data, CUDA_R_16F, 1, &one,
                     data, CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(std::string(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE)) == "CUBLAS_STATUS_INVALID_VALUE");
  cudaFree(data);
}

TEST_CASE("Handles of cuBLAS belong to a device, until they are destroyed", "[cublas]") {
  const ExpectFaults expect;
  cublasHandle_t handle = nullptr;
  CHECK(cublasSetStream(handle, nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  cudaSetDevice(1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK_THAT(emu::first_fault(), Catch::Contains("not a handle"));
  cudaSetDevice(0);
  CHECK(cublasSetStream(handle, stream) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasDestroy(handle) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(emu::fault_count() == 4);
  cudaStreamDestroy(stream);
}

TEST_CASE("Operands of cuBLAS lie in memory of its device", "[cublas]") {
  const Streams streams(GENERATE(true, false));
  const ExpectFaults expect;
  const Handle handle;
  auto* const data = device_array<float>(16);
  auto* const c = device_array<float>(16);
  cudaSetDevice(1);
  auto* const foreign = device_array<float>(16);
  cudaSetDevice(0);
  const float one = 1;
  std::vector<float> host(16);
  const auto check_gemm = [&](const float* a, int n, const std::string& words) {
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, n, 4, &one, a, 4, data, 4, &one, c, 4) ==
          CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK(emu::fault_count() == 1);
    CHECK_THAT(emu::first_fault(), Catch::Contains("cublasSgemm") && Catch::Contains(words));
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    emu::clear_faults();
  };
  check_gemm(data, 5, "B: 80 bytes");
  check_gemm(data + 1, 4, "A: 64 bytes");
  check_gemm(host.data(), 4, "not in device memory");
  check_gemm(foreign, 4, "memory of device 1");
  check_gemm(c, 4, "C is also an operand");
  std::vector<float*> table{data, host.data()};
  float** const tables = to_device(table);
  CHECK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, tables, 1, tables, 1, &one, tables + 1, 1,
                           1) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);  // found only as it runs
  CHECK_THAT(emu::first_fault(), Catch::Contains("cublasSgemmBatched, C"));
  emu::clear_faults();
  for (float* each : {data, c, foreign}) cudaFree(each);
  cudaFree(tables);
}
