#include "cublas.h"

#include <unordered_map>

// Handles of cuBLAS and what is set with them.
namespace emu {
namespace {

constexpr int kVersion = 130000;
constexpr uintptr_t kWorkspaceAlignment = 256;

std::unordered_map<cublasHandle_t, CublasState>& handles() {
  static auto& all = *new std::unordered_map<cublasHandle_t, CublasState>;
  return all;
}

template <class F>
cublasStatus_t with_handle(cublasHandle_t handle, const char* function, F use) {
  const std::lock_guard lock(model_mutex());
  CublasState* const state = find_cublas(handle, function);
  return state != nullptr ? use(*state) : CUBLAS_STATUS_NOT_INITIALIZED;
}

template <class T>
cublasStatus_t give(const char* function, T* to, T value) {
  if (to == nullptr) return refuse_cublas(function, "the result has no place");
  *to = value;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

CublasState* find_cublas(cublasHandle_t handle, const char* function) {
  const auto found = handles().find(handle);
  if (found == handles().end()) {
    fault(cudaSuccess, "%s: %p is not a handle, or one that was destroyed", function, static_cast<void*>(handle));
    return nullptr;
  }
  if (found->second.device != current_device()) {
    fault(cudaSuccess, "%s: a handle of device %d is used while device %d is current", function, found->second.device,
          current_device());
    return nullptr;
  }
  return &found->second;
}

cublasStatus_t refuse_cublas(const char* function, const char* reason) {
  fault(cudaSuccess, "%s: %s", function, reason);
  return CUBLAS_STATUS_INVALID_VALUE;
}

Scalar Scalar::from(const CublasState& state, const float* data) {
  if (state.pointers == CUBLAS_POINTER_MODE_DEVICE) return {0, data};
  return {*data, nullptr};
}

bool Scalar::check(int device, const char* what) const {
  return device_data == nullptr || check_range(device_data, sizeof(float), device, what);
}

float Scalar::get() const {
  return device_data == nullptr ? value : *static_cast<const float*>(device_view(device_data));
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  static uintptr_t next_handle = 0x7'0000'0000;  // no address, and not used again
  const std::lock_guard lock(model_mutex());
  if (handle == nullptr) return refuse_cublas("cublasCreate", "the handle has no place");
  if (device_error() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = reinterpret_cast<cublasHandle_t>(next_handle += 16);
  handles()[*handle].device = current_device();
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  const std::lock_guard lock(model_mutex());
  if (handles().erase(handle) == 1) return CUBLAS_STATUS_SUCCESS;
  fault(cudaSuccess, "cublasDestroy: %p is not a handle, or one that was destroyed", static_cast<void*>(handle));
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) {
  return with_handle(handle, "cublasGetVersion",
                     [&](CublasState&) { return give("cublasGetVersion", version, kVersion); });
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return with_handle(handle, "cublasSetStream", [&](CublasState& state) {
    if (device_of_stream(stream) != state.device) return refuse_cublas("cublasSetStream", "not a stream of the device");
    state.stream = stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return with_handle(handle, "cublasGetStream",
                     [&](CublasState& state) { return give("cublasGetStream", stream, state.stream); });
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* data, size_t bytes) {
  return with_handle(handle, "cublasSetWorkspace", [&](CublasState& state) {
    if (reinterpret_cast<uintptr_t>(data) % kWorkspaceAlignment != 0) {
      return refuse_cublas("cublasSetWorkspace", "the memory is not aligned to 256 bytes");
    }
    if (!check_range(data, bytes, state.device, "cublasSetWorkspace")) return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return with_handle(handle, "cublasSetMathMode", [&](CublasState& state) {
    if (mode < CUBLAS_DEFAULT_MATH || mode > CUBLAS_TF32_TENSOR_OP_MATH) {
      return refuse_cublas("cublasSetMathMode", "no such mode");
    }
    state.math = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return with_handle(handle, "cublasGetMathMode",
                     [&](CublasState& state) { return give("cublasGetMathMode", mode, state.math); });
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return with_handle(handle, "cublasSetPointerMode", [&](CublasState& state) {
    if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) {
      return refuse_cublas("cublasSetPointerMode", "no such mode");
    }
    state.pointers = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return with_handle(handle, "cublasGetPointerMode",
                     [&](CublasState& state) { return give("cublasGetPointerMode", mode, state.pointers); });
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "unknown cuBLAS status";
}

const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

}  // namespace emu
