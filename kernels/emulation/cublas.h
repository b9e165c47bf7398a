#pragma once
#include <cublas_v2.h>

#include "state.h"

namespace emu {

struct CublasState {
  int device;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

// What a call computes with; null, with a fault, for a handle that is none or that belongs to another device than the
// current one.
CublasState* find_cublas(cublasHandle_t, const char* function);

// alpha or beta: a value, or where in device memory it will be.
struct Scalar {
  float value = 0;
  const float* device_data = nullptr;

  static Scalar from(const CublasState&, const float*);
  bool check(int device, const char* what) const;
  float get() const;
};

cublasStatus_t refuse_cublas(const char* function, const char* reason);  // CUBLAS_STATUS_INVALID_VALUE

}  // namespace emu
