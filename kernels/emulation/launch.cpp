#include <cinttypes>
#include <numeric>
#include <unordered_map>

#include "block.h"
#include "launch_state.h"
#include "settings.h"
#include "state.h"

namespace emu {
namespace {

auto& shared_limits = *new std::unordered_map<const void*, size_t>;  // that kernels asked for

size_t shared_limit(const void* kernel) {
  const auto found = shared_limits.find(kernel);
  return found == shared_limits.end() ? kStaticSharedLimit : kSharedLimit;
}

size_t dynamic_limit(const void* kernel) {
  const auto found = shared_limits.find(kernel);
  return found == shared_limits.end() ? kStaticSharedLimit : found->second;
}

// The device gives registers to warps, 256 at a time.
unsigned registers_of_block(const void* kernel, unsigned threads) {
  const auto of_thread = static_cast<unsigned>(registers_of(kernel));
  return (of_thread + 7) / 8 * 8 * ((threads + 31) / 32 * 32);
}

cudaError_t refuse_launch(const LaunchCall& call, cudaError_t error, const char* what, uint64_t value, uint64_t limit) {
  fault(cudaSuccess, "%s: the launch is refused: %s is %" PRIu64 ", the limit is %" PRIu64,
        kernel_name(call.kernel).c_str(), what, value, limit);
  return refuse(error);
}

cudaError_t check_shape(const LaunchShape& shape, const LaunchCall& call) {
  constexpr cudaError_t kBadShape = cudaErrorInvalidConfiguration;
  const dim3 grid = shape.grid, block = shape.block;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
    return refuse_launch(call, kBadShape, "the number of blocks or threads", 0, 1);
  }
  if (block.x > 1024) return refuse_launch(call, kBadShape, "blockDim.x", block.x, 1024);
  if (block.y > 1024) return refuse_launch(call, kBadShape, "blockDim.y", block.y, 1024);
  if (block.z > 64) return refuse_launch(call, kBadShape, "blockDim.z", block.z, 64);
  if (threads > kMaxThreads) return refuse_launch(call, kBadShape, "the threads of a block", threads, kMaxThreads);
  if (grid.x > 0x7FFFFFFFu) return refuse_launch(call, kBadShape, "gridDim.x", grid.x, 0x7FFFFFFF);
  if (grid.y > 65535) return refuse_launch(call, kBadShape, "gridDim.y", grid.y, 65535);
  if (grid.z > 65535) return refuse_launch(call, kBadShape, "gridDim.z", grid.z, 65535);
  if (call.bytes > 4096) return refuse_launch(call, cudaErrorInvalidValue, "the bytes of arguments", call.bytes, 4096);
  const size_t limit = dynamic_limit(call.kernel);
  if (shape.shared_bytes > limit) {
    return refuse_launch(call, cudaErrorInvalidValue, "dynamic shared memory", shape.shared_bytes, limit);
  }
  const unsigned registers = registers_of_block(call.kernel, static_cast<unsigned>(threads));
  if (registers > 65536) {
    return refuse_launch(call, cudaErrorLaunchOutOfResources, "the registers of a block", registers, 65536);
  }
  return cudaSuccess;
}

// Which block runs as the n-th. A random order is n * step + first, as there may be too many blocks to shuffle.
class BlockOrder {
 public:
  explicit BlockOrder(uint64_t count) : count_(count) {
    if (settings.block_order == Order::reverse) {
      first_ = step_ = count - 1;
    } else if (settings.block_order == Order::random) {
      first_ = settings.block_random.next() % count;
      do {
        step_ = settings.block_random.next() % count;
      } while (std::gcd(step_, count) != 1);
    }
  }
  uint64_t operator()(uint64_t n) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(n) * step_ + first_) % count_);
  }

 private:
  uint64_t count_, first_ = 0, step_ = 1;
};

void run_blocks(dim3 grid) {
  const uint64_t count = uint64_t{grid.x} * grid.y * grid.z;
  const BlockOrder order(count);
  const bool forward = settings.block_order == Order::forward;
  for (uint64_t n = 0; n < count; ++n) {
    const uint64_t block = forward ? n : order(n);
    const uint64_t row = block / grid.x;
    blockIdx = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(row % grid.y),
                static_cast<unsigned>(row / grid.y)};
    shared_memory_begins();
    checker_block_begins();
    const bool whole = run_block();
    checker_block_ends();
    if (!whole) return;
    shared_memory_ends();
  }
}

void run_grid(const LaunchShape& shape, const LaunchCall& call, int device) {
  const std::lock_guard lock(model_mutex());
  watch_signals();
  gridDim = shape.grid;
  ++position.launch;
  position.kernel = call.kernel;
  position.device = device;
  position.arguments = static_cast<const std::byte*>(call.arguments.get());
  position.argument_bytes = call.bytes;
  shape_blocks(shape.block, call.run_thread, call.arguments.get());
  shared_memory_of_launch(shape.shared_bytes, shared_limit(call.kernel));
  checker_launch_begins();
  run_blocks(shape.grid);
  checker_launch_ends();
  position.kernel = nullptr;
  position.arguments = nullptr;
}

}  // namespace

cudaError_t launch_call(const LaunchShape& shape, const LaunchCall& call) {
  const std::lock_guard lock(model_mutex());
  if (has_sticky_error()) return refuse(sticky_error());
  if (const cudaError_t error = check_shape(shape, call); error != cudaSuccess) return error;
  const int device = device_of_stream(shape.stream);
  if (device != current_device()) {
    const std::string name = kernel_name(call.kernel);
    if (device < 0) {
      fault(cudaSuccess, "%s is launched into what is no stream", name.c_str());
    } else {
      fault(cudaSuccess, "%s is launched into a stream of device %d while device %d is current", name.c_str(), device,
            current_device());
    }
    return refuse(cudaErrorInvalidResourceHandle);
  }
  translate_pointers(call.arguments.get(), call.bytes);
  enqueue(shape.stream, [shape, call, device] { run_grid(shape, call, device); });
  return cudaSuccess;
}

void check_pointer_argument(const void* kernel, int index, const void* pointer) {
  if (!pointer) return;
  const std::lock_guard lock(model_mutex());
  const std::string name = kernel_name(kernel);
  if (!is_host_view(pointer)) {
    fault(cudaErrorIllegalAddress, "%s: argument %d is %p, which is not in device memory", name.c_str(), index,
          pointer);
  } else if (device_of(pointer) != current_device()) {
    fault(cudaErrorIllegalAddress, "%s: argument %d is in the memory of device %d, the kernel runs on device %d",
          name.c_str(), index, device_of(pointer), current_device());
  } else if (const Allocation* const found = find_allocation(pointer); !found || !found->live) {
    fault(cudaErrorIllegalAddress, "%s: argument %d is %p, %s", name.c_str(), index, pointer,
          found ? "memory that was freed" : "in no allocation");
  }
}

cudaError_t set_shared_limit(const void* kernel, size_t bytes) {
  const std::lock_guard lock(model_mutex());
  if (bytes > kSharedLimit) {
    fault(cudaSuccess, "%s asks for %zu bytes of dynamic shared memory; %zu are the limit", kernel_name(kernel).c_str(),
          bytes, kSharedLimit);
    return refuse(cudaErrorInvalidValue);
  }
  shared_limits[kernel] = bytes;
  return cudaSuccess;
}

}  // namespace emu
