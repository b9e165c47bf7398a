#include <kernels/host_memory.h>

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace dnn {
namespace {

constexpr size_t kAlignment = 64;
std::atomic<int64_t> allocation_count{0};

void* host_alloc(size_t bytes) {
  void* data = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (!data && bytes > 0) throw Error(fmt::format("[alloc] no memory left on cpu; {} bytes were asked for", bytes));
  ++allocation_count;
  return data;
}

void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

DeviceApi host_memory() {
  DeviceApi api;
  api.alloc = host_alloc;
  api.free = [](void* data, size_t) { std::free(data); };
  api.copy_from_host = copy_bytes;
  api.copy_to_host = copy_bytes;
  api.copy = copy_bytes;
  api.synchronize = [] {};
  api.allocations = [] { return allocation_count.load(); };
  api.host_memory = true;
  return api;
}

}  // namespace dnn
