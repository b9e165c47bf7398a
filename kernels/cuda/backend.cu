// The row of this library, for kernels/plugin.h.
#include <kernels/backend.h>

#include <kernels/cuda/cuda.h>
#include <kernels/cuda/device.h>
#include <kernels/cuda/kernels.h>

namespace dnn::cuda {
namespace {

std::string unavailable_because(const Backend&) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {};
  cudaGetLastError();
  return std::string("needs a CUDA device; ") + (status == cudaSuccess ? "there is none" : cudaGetErrorString(status));
}

}  // namespace
}  // namespace dnn::cuda

extern "C" __attribute__((visibility("default"))) bool dnn_plugin_row(size_t size, dnn::Backend* row) {
  using namespace dnn;
  if (size != sizeof(Backend)) return false;
  row->kind = DeviceKind::accelerator;
  row->device = cuda::device_api();
  row->device_count = cuda::device_count;
  row->unavailable_because = cuda::unavailable_because;
  row->f32.unary_forward.run = cuda::unary_forward;
  row->f32.unary_backward.run = cuda::unary_backward;
  row->f32.binary.run = cuda::binary;
  row->f32.gemm.run = cuda::gemm;
  row->raw.copy_strided.run = cuda::copy_strided;
  row->raw.fill.run = cuda::fill;
  return true;
}

#ifdef CUDA_EMULATION
// For tests of the model's checked build: the lines of kernels that have moved more than they need since the last call,
// a line each. Null in other builds.
extern "C" __attribute__((visibility("default"))) const char* dnn_plugin_wasteful_lines() {
  static std::string text;
  text.clear();
  for (const std::string& line : emu::wasteful_lines()) text += line + '\n';
  emu::clear_traffic();
  return emu::checked() ? text.c_str() : nullptr;
}
#endif
