#include <kernels/meta.h>

#include <atomic>

namespace dnn::meta {
namespace {

std::atomic<int64_t> allocation_count{0};

template <class T>
void fill_table(Kernels<T>& kernels) {
  for_each_kernel(kernels, [](auto& entry) { entry.run = [](auto...) {}; });
}

}  // namespace

Backend make_backend() {
  Backend row;
  row.name = "meta";
  fill_table(row.f32);
  fill_table(row.f64);
  row.device.alloc = [](size_t) -> void* {
    ++allocation_count;
    return nullptr;
  };
  row.device.free = [](void*, size_t) {};
  row.device.copy_from_host = [](void*, const void*, size_t) {};
  row.device.copy_to_host = [](void*, const void*, size_t) {
    throw Error("[copy_to_host] a tensor on meta has no values to read");
  };
  row.device.copy = [](void*, const void*, size_t) {};
  row.device.synchronize = [] {};
  row.device.allocations = [] { return allocation_count.load(); };
  return row;
}

}  // namespace dnn::meta
