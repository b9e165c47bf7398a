#include <cstring>

#include "heap.h"
#include "memory.h"
#include "stream.h"

// Copies into __constant__ variables, which are static variables of the program: one for all devices.
namespace emu {

cudaError_t copy_to_symbol(const ConstantVariable& variable, const void* from, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  if (!queue) return refuse(cudaErrorInvalidResourceHandle);
  const bool from_device = is_host_view(from);
  if (kind != cudaMemcpyDefault && kind != (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)) {
    fault(cudaSuccess, "cudaMemcpyToSymbol: the source is %s memory", from_device ? "device" : "host");
    return refuse(cudaErrorInvalidMemcpyDirection);
  }
  if (offset > variable.bytes || bytes > variable.bytes - offset) {
    fault(cudaSuccess, "cudaMemcpyToSymbol: %zu bytes from byte %zu on end outside of the variable's %zu", bytes,
          offset, variable.bytes);
    return refuse(cudaErrorInvalidValue);
  }
  if (const std::string problem = from_device ? range_problem(from, bytes) : std::string(); !problem.empty()) {
    fault(cudaSuccess, "cudaMemcpyToSymbol: the source: %s", problem.c_str());
    return refuse(cudaErrorInvalidValue);
  }
  Operation operation;
  std::byte* const to = static_cast<std::byte*>(variable.data) + offset;
  if (from_device) {
    operation.run = [=] { std::memcpy(to, device_view(from), bytes); };
  } else if (find_pinned(from) != nullptr) {
    operation.run = [=] { std::memcpy(to, from, bytes); };
  } else {
    const auto* const source = static_cast<const std::byte*>(from);
    operation.run = [to, staged = std::vector<std::byte>(source, source + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    };
    operation.bytes = bytes;
  }
  const Point behind = put(queue, std::move(operation));
  if (waits && !from_device) run_until(behind);
  return sticky_error();
}

}  // namespace emu
