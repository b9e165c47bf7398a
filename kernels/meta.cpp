#include <kernels/meta.h>

#include <atomic>

namespace dnn {
namespace {

std::atomic<int64_t> allocation_count{0};
thread_local double flops_so_far = 0;

template <class T>
concept CountsFlops = requires(const T& shape) {
  shape.flops();
};

// A kernel that only counts, from the shape among its arguments.
template <class... Args>
void count(Context&, Args... args) {
  const auto add = [](const auto& argument) {
    if constexpr (CountsFlops<decltype(argument)>) flops_so_far += argument.flops();
  };
  (add(args), ...);
}

// There is nothing to lay out.
template <class Result, class... Args>
Result no_plan(Context&, Args...) {
  return {};
}

template <class T, class... Args>
void set_counting(Kernel<T, Args...>& entry) {
  entry.run = count<Args...>;
}

template <class T>
void fill_table(Kernels<T>& kernels) {
  for_each_kernel(kernels, [](auto& entry) { set_counting(entry); });
#define DNN_FILL(name, result, ...) kernels.name.run = no_plan<result, __VA_ARGS__>;
  DNN_PLANS(DNN_FILL)
#undef DNN_FILL
}

}  // namespace

double meta_flops() { return flops_so_far; }

namespace meta {

Backend make_backend() {
  Backend row;
  row.name = "meta";
  fill_table(row.f32);
  fill_table(row.f64);
  for_each_kernel(row.raw, [](auto& entry) { set_counting(entry); });
  row.kind = DeviceKind::meta;
  DeviceApi& api = row.device;
  api.alloc = [](int, size_t, void*) -> void* {
    ++allocation_count;
    return nullptr;
  };
  api.free = [](int, void*, size_t) {};
  api.allocations = [] { return allocation_count.load(); };
  api.stream = [](int, StreamKind) -> void* { return nullptr; };
  api.copy_from_host = [](Context&, void*, const void*, size_t) {};
  api.copy_to_host = [](Context&, void*, const void*, size_t) {
    throw Error("[copy_to_host] a tensor on meta has no values to read");
  };
  api.copy = [](Context&, void*, const void*, size_t) {};
  api.fill = [](Context&, void*, unsigned char, size_t) {};
  api.record = [](Context&) -> Event* { return nullptr; };
  api.wait = [](Context&, Event*) {};
  api.release = [](Event*) {};
  api.synchronize = [](Context&) {};
  api.properties = [](int) { return DeviceProperties{"shapes only", 0}; };
  return row;
}

}  // namespace meta
}  // namespace dnn
