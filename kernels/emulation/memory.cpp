#include "memory.h"

#include <cstdlib>
#include <cstring>
#include <map>

#include "heap.h"
#include "stream.h"

namespace emu {
namespace {

constexpr size_t kPinnedAlignment = 4096;

std::map<const std::byte*, PinnedMemory>& pinned() {
  static auto& all = *new std::map<const std::byte*, PinnedMemory>;
  return all;
}

cudaError_t refuse_free(const char* function, const void* data) {
  const std::string problem = range_problem(data, 1);
  fault(cudaSuccess, "%s(%p): %s", function, data,
        problem.empty() ? "not the begin of an allocation, or freed before" : problem.c_str());
  return refuse(cudaErrorInvalidValue);
}

}  // namespace

const PinnedMemory* find_pinned(const void* data) {
  const auto* const at = static_cast<const std::byte*>(data);
  const auto behind = pinned().upper_bound(at);
  if (behind == pinned().begin()) return nullptr;
  const PinnedMemory& memory = std::prev(behind)->second;
  return at < memory.begin + memory.bytes ? &memory : nullptr;
}

cudaError_t cudaMalloc(void** data, size_t bytes) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  if (data == nullptr) return refuse(cudaErrorInvalidValue);
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  *data = allocate(current_device(), bytes);
  return *data == nullptr ? refuse(cudaErrorMemoryAllocation) : cudaSuccess;
}

// Waits for the device, and gives the memory back also when an error is sticky: a test goes on in the same process.
cudaError_t cudaFree(void* data) {
  const std::lock_guard lock(model_mutex());
  if (data == nullptr) return device_error();
  const Allocation* const allocation = find_allocation(data);
  if (allocation != nullptr) run_all(allocation->device);
  if (!mark_for_release(data)) return refuse_free("cudaFree", data);
  release(data);
  return device_error();
}

// What another stream does with the memory must come after this.
cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  if (!queue) return refuse(cudaErrorInvalidResourceHandle);
  if (data == nullptr) return refuse(cudaErrorInvalidValue);
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  *data = book(queue->device, bytes);
  if (*data == nullptr) return refuse(cudaErrorMemoryAllocation);
  Operation operation;
  operation.run = [memory = *data] { make_usable(memory); };
  operation.in_any_case = true;
  put(queue, std::move(operation));
  return sticky_error();
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  const auto queue = find_queue(stream);
  if (!queue) return refuse(cudaErrorInvalidResourceHandle);
  if (data == nullptr) return device_error();
  if (!mark_for_release(data)) return refuse_free("cudaFreeAsync", data);
  Operation operation;
  operation.run = [data] { release(data); };
  operation.in_any_case = true;
  put(queue, std::move(operation));
  return device_error();
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned flags) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  constexpr unsigned kOffered = cudaHostAllocPortable | cudaHostAllocWriteCombined;
  if (data == nullptr || (flags & ~kOffered) != 0) return refuse(cudaErrorInvalidValue);
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  void* const memory =
      std::aligned_alloc(kPinnedAlignment, (bytes + kPinnedAlignment - 1) / kPinnedAlignment * kPinnedAlignment);
  if (memory == nullptr) return refuse(cudaErrorMemoryAllocation);
  std::memset(memory, 0xFF, bytes);
  auto* const begin = static_cast<std::byte*>(memory);
  pinned()[begin] = {begin, bytes};
  *data = memory;
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** data, size_t bytes) { return cudaHostAlloc(data, bytes, cudaHostAllocDefault); }

cudaError_t cudaFreeHost(void* data) {
  const std::lock_guard lock(model_mutex());
  if (data == nullptr) return device_error();
  const auto found = pinned().find(static_cast<const std::byte*>(data));
  if (found == pinned().end()) {
    fault(cudaSuccess, "cudaFreeHost(%p): not memory of cudaHostAlloc, or freed before", data);
    return refuse(cudaErrorInvalidValue);
  }
  for (int device = 0; device < kMostDevices; ++device) run_all(device);
  pinned().erase(found);
  std::free(data);
  return device_error();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  if (attributes == nullptr) return refuse(cudaErrorInvalidValue);
  auto* const pointer = const_cast<void*>(data);
  if (range_problem(data, 1).empty()) {
    *attributes = {cudaMemoryTypeDevice, device_of(data), pointer, nullptr};
  } else if (find_pinned(data) != nullptr) {
    *attributes = {cudaMemoryTypeHost, current_device(), nullptr, pointer};
  } else {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, pointer};
  }
  return cudaSuccess;
}

}  // namespace emu
