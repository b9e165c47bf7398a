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
  std::vector<WorkspaceMemory::Block> blocks;
  size_t block = 0;  // the block in use
  size_t used = 0;   // bytes taken of it
};

namespace {

using Block = WorkspaceMemory::Block;

Block take_block(Context& context, size_t bytes) {
  if (context.memory) return context.memory->take(bytes);
  void* const data = context.backend.device.alloc(context.ordinal, bytes, nullptr);
  if (!data && context.backend.kind != DeviceKind::meta) {
    throw Error(fmt::format("[workspace] out of memory on {}: {} bytes wanted", context.backend.name, bytes));
  }
  return {data, bytes, nullptr};
}

void give_back(Context& context, const Block& block) {
  if (context.memory) return context.memory->give_back(block, context);
  context.backend.device.free(context.ordinal, block.data, block.bytes);
}

DeviceStatus* make_status(Context& context) {
  if (context.backend.kind == DeviceKind::meta) return nullptr;
  void* const data = context.backend.device.alloc(context.ordinal, sizeof(DeviceStatus), nullptr);
  if (!data) throw Error(fmt::format("[context] out of memory on {}", context.backend.name));
  context.backend.device.fill(context, data, 0, sizeof(DeviceStatus));
  return static_cast<DeviceStatus*>(data);
}

}  // namespace

Context::Context(const Backend& b, int device, StreamKind stream_kind, WorkspaceMemory* workspace_memory)
    : backend(b),
      ordinal(device),
      kind(stream_kind),
      stream(b.device.stream ? b.device.stream(device, stream_kind) : nullptr),
      memory(workspace_memory),
      status(make_status(*this)),
      arena(std::make_unique<Arena>()) {}

Context::~Context() {
  for (const Block& block : arena->blocks) give_back(*this, block);
  if (status) backend.device.free(ordinal, status, sizeof(DeviceStatus));
}

Workspace::Workspace(Context& context) : context_(context), block_(context.arena->block), used_(context.arena->used) {}

Workspace::~Workspace() {
  Context::Arena& arena = *context_.arena;
  arena.block = block_;
  arena.used = used_;
  if (block_ != 0 || used_ != 0 || arena.blocks.size() < 2) return;
  // The outermost user has left and one block was not enough: the next time it will be.
  size_t total = 0;
  for (const Block& block : arena.blocks) {
    total += block.bytes;
    give_back(context_, block);
  }
  arena.blocks.clear();
  try {
    arena.blocks.push_back(take_block(context_, total));
  } catch (const Error&) {  // who takes some next learns that there is no more
  }
}

void* Workspace::take_bytes(size_t bytes) {
  constexpr size_t kBlockUnit = size_t{2} << 20;  // a huge page
  const DeviceApi& device = context_.backend.device;
  Context::Arena& arena = *context_.arena;
  bytes = (bytes + device.alignment - 1) / device.alignment * device.alignment;
  while (arena.block < arena.blocks.size() && arena.used + bytes > arena.blocks[arena.block].bytes) {
    ++arena.block;
    arena.used = 0;
  }
  if (arena.block == arena.blocks.size()) {
    const size_t size = std::max(size_t{1}, (bytes + kBlockUnit - 1) / kBlockUnit) * kBlockUnit;
    arena.blocks.push_back(take_block(context_, size));
    arena.used = 0;
  }
  void* taken = static_cast<std::byte*>(arena.blocks[arena.block].data) + arena.used;
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
