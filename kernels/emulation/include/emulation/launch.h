#pragma once
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <emulation/qualifiers.h>
#include <emulation/runtime.h>
#include <emulation/vector_types.h>

namespace emu {

struct LaunchShape {
  dim3 grid, block;
  size_t shared_bytes;  // dynamic
  cudaStream_t stream;
};

// A kernel with its arguments, which are `bytes` from `arguments` on.
struct LaunchCall {
  const void* kernel;
  void (*run_thread)(void* arguments);
  std::shared_ptr<void> arguments;
  size_t bytes;
};

// Checks the launch, whose limits are those of sm_75, turns the pointers to device memory among the arguments into what
// kernels may follow (heap.h), and puts it into the stream.
cudaError_t launch_call(const LaunchShape&, const LaunchCall&);
// A pointer that is itself a kernel's argument: a fault unless it is null or points into the current device's memory.
void check_pointer_argument(const void* kernel, int index, const void* pointer);

template <class... P, class... A>
cudaError_t launch_kernel(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                          A&&... arguments) {
  static_assert((std::is_trivially_copyable_v<P> && ...), "a kernel's parameters must be trivially copyable");
  static_assert(sizeof...(P) == sizeof...(A), "the kernel has another number of parameters");
  struct Call {
    std::tuple<P...> arguments;
    void (*kernel)(P...);
  };
  const auto call = std::make_shared<Call>(Call{std::tuple<P...>(static_cast<P>(arguments)...), kernel});
  int index = 0;
  const auto check = [&](const auto& argument) {
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(argument)>>) {
      check_pointer_argument(reinterpret_cast<const void*>(kernel), index, static_cast<const void*>(argument));
    }
    ++index;
  };
  std::apply([&](const auto&... each) { (check(each), ...); }, call->arguments);
  const auto run_thread = [](void* data) EMU_UNCHECKED {
    auto* const c = static_cast<Call*>(data);
    const auto kernel_of_call = c->kernel;  // on the thread's own stack: what std::apply reads is checked
    std::apply(kernel_of_call, c->arguments);
  };
  return launch_call({grid, block, shared_bytes, stream},
                     {reinterpret_cast<const void*>(kernel), run_thread, call, sizeof(call->arguments)});
}

// The runtime's own name for it.
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  void* attrs = nullptr;
  unsigned numAttrs = 0;
};
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments) {
  return launch_kernel(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
                       std::forward<A>(arguments)...);
}

}  // namespace emu
