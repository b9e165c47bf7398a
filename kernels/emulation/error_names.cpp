#include <cuda_runtime.h>

namespace emu {
namespace {

struct ErrorText {
  cudaError_t error;
  const char *name, *text;
};

#define EMU_ERROR(name, text) \
  { name, #name, text }
constexpr ErrorText kErrors[] = {
    EMU_ERROR(cudaSuccess, "no error"),
    EMU_ERROR(cudaErrorInvalidValue, "invalid argument"),
    EMU_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    EMU_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    EMU_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    EMU_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    EMU_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    EMU_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    EMU_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    EMU_ERROR(cudaErrorNotReady, "device not ready"),
    EMU_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    EMU_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    EMU_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    EMU_ERROR(cudaErrorNotSupported, "operation not supported"),
};
#undef EMU_ERROR

constexpr ErrorText kUnknown{cudaSuccess, "unrecognized error code", "unrecognized error code"};

const ErrorText& find_text(cudaError_t error) {
  for (const ErrorText& each : kErrors) {
    if (each.error == error) return each;
  }
  return kUnknown;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) { return find_text(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return find_text(error).text; }

}  // namespace emu
