#include <kernels/context.h>

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <kernels/backend.h>

namespace dnn {

struct Context::Arena {
  struct Block {
    std::byte* data;
    size_t size;
  };
  std::vector<Block> blocks;
  size_t block = 0;  // the block in use
  size_t used = 0;   // bytes taken of it
};

Context::Context(const Backend& b, int device, StreamKind kind)
    : backend(b),
      ordinal(device),
      stream(b.device.stream ? b.device.stream(device, kind) : nullptr),
      arena(std::make_unique<Arena>()) {}

Context::~Context() {
  for (const Arena::Block& block : arena->blocks) backend.device.free(ordinal, block.data, block.size);
}

Workspace::Workspace(Context& context) : context_(context), block_(context.arena->block), used_(context.arena->used) {}

Workspace::~Workspace() {
  Context::Arena& arena = *context_.arena;
  arena.block = block_;
  arena.used = used_;
  if (block_ != 0 || used_ != 0 || arena.blocks.size() < 2) return;
  // The outermost user has left and one block was not enough: the next time it will be.
  size_t total = 0;
  for (const Context::Arena::Block& block : arena.blocks) {
    total += block.size;
    context_.backend.device.free(context_.ordinal, block.data, block.size);
  }
  arena.blocks.clear();
  // Where there is no memory now, whoever takes some next learns it.
  if (void* const data = context_.backend.device.alloc(context_.ordinal, total, nullptr)) {
    arena.blocks.push_back({static_cast<std::byte*>(data), total});
  }
}

void* Workspace::take_bytes(size_t bytes) {
  constexpr size_t kBlockUnit = size_t{2} << 20;  // a huge page
  const DeviceApi& device = context_.backend.device;
  Context::Arena& arena = *context_.arena;
  bytes = (bytes + device.alignment - 1) / device.alignment * device.alignment;
  while (arena.block < arena.blocks.size() && arena.used + bytes > arena.blocks[arena.block].size) {
    ++arena.block;
    arena.used = 0;
  }
  if (arena.block == arena.blocks.size()) {
    const size_t size = std::max(size_t{1}, (bytes + kBlockUnit - 1) / kBlockUnit) * kBlockUnit;
    auto* const data = static_cast<std::byte*>(device.alloc(context_.ordinal, size, nullptr));
    if (!data && context_.backend.kind != DeviceKind::meta) {
      throw Error(fmt::format("[workspace] out of memory on {}: {} bytes wanted", context_.backend.name, size));
    }
    arena.blocks.push_back({data, size});
    arena.used = 0;
  }
  void* taken = arena.blocks[arena.block].data + arena.used;
  arena.used += bytes;
  return taken;
}

namespace {

int threads_at_start() {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  const int number = asked ? std::atoi(asked) : 0;
  if (number >= 1) return std::min(number, kMostThreads);
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) return std::clamp(CPU_COUNT(&cpus), 1, kMostThreads);
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, static_cast<unsigned>(kMostThreads)));
}

std::atomic<int>& thread_setting() {
  static std::atomic<int> setting{threads_at_start()};
  return setting;
}

}  // namespace

int num_threads() { return thread_setting(); }

void set_num_threads(int threads) {
  if (threads < 1 || threads > kMostThreads) {
    throw Error(fmt::format("[set_num_threads] takes 1 to {} threads; got {}", kMostThreads, threads));
  }
  thread_setting() = threads;
}

}  // namespace dnn
