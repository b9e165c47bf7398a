#include "fake_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <kernels/backend.h>

namespace dnn {

struct Event {
  std::shared_ptr<bool> happened = std::make_shared<bool>(false);
};

namespace test {
namespace {

constexpr int kDevices = 2;
constexpr size_t kAlignment = 64;  // the least that a row may have
constexpr size_t kPage = 4096, kRegion = size_t{16} << 30;
constexpr int64_t kMostWaiting = 50000;  // then they run, as a full queue of a real device makes the host wait

struct Work {
  std::function<void()> run;
  std::shared_ptr<bool> after;  // may be null
};
using Stream = std::deque<Work>;

struct FakeMemory {
  std::byte* begin = nullptr;
  size_t used = 0;  // up to the end of the last block
  struct Block {
    size_t bytes;
    bool freed = false;  // but something before that has not run yet
  };
  std::map<std::byte*, Block> blocks;
};

struct Fake {
  std::recursive_mutex mutex;
  FakeMemory memory[kDevices];
  Stream streams[kDevices][2];
  std::minstd_rand random{7};
  int64_t allocations = 0, synchronizations = 0, waiting = 0;
  bool open = false;  // the memory can be touched
  Context kernels{backend("reference")};
};

Fake& fake() {
  static Fake& fake = *[] {
    auto* const made = new Fake;
    for (FakeMemory& memory : made->memory) {
      void* const data = mmap(nullptr, kRegion, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (data == MAP_FAILED) throw Error("[fake] no room for the memory");
      memory.begin = static_cast<std::byte*>(data);
    }
    return made;
  }();
  return fake;
}

void set_open(Fake& f, bool open) {
  if (f.open == open) return;
  for (FakeMemory& memory : f.memory) {
    if (memory.used > 0) mprotect(memory.begin, memory.used, open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
  f.open = open;
}

bool may_run(const Stream& stream) { return !stream.empty() && (!stream.front().after || *stream.front().after); }

// Runs what waits, of any stream whose turn it may be, until one is empty.
void drain(Fake& f, const Stream& until) {
  if (until.empty()) return;
  set_open(f, true);
  while (!until.empty()) {
    std::vector<Stream*> ready;
    for (auto& device : f.streams) {
      for (Stream& stream : device) {
        if (may_run(stream)) ready.push_back(&stream);
      }
    }
    if (ready.empty()) throw Error("[fake] streams wait for each other");
    Stream& stream = *ready[f.random() % ready.size()];
    const Work work = std::move(stream.front());
    stream.pop_front();
    --f.waiting;
    if (work.run) work.run();
  }
  set_open(f, false);
}

Stream& stream_of(const Context& context) { return *static_cast<Stream*>(context.stream); }

void enqueue(Context& context, std::function<void()> run, std::shared_ptr<bool> after = nullptr) {
  Fake& f = fake();
  const std::lock_guard lock(f.mutex);
  stream_of(context).push_back({std::move(run), std::move(after)});
  if (++f.waiting > kMostWaiting) drain(f, stream_of(context));
}

// Error unless it is null or points into a block, or to its end, of the device.
void check_pointer(const char* name, const Context& context, const void* pointer) {
  if (!pointer) return;
  Fake& f = fake();
  const std::lock_guard lock(f.mutex);
  const auto* const at = static_cast<const std::byte*>(pointer);
  for (const auto& [data, block] : f.memory[context.ordinal].blocks) {
    if (!block.freed && data <= at && at <= data + block.bytes) return;
  }
  throw Error(std::string("[") + name + "] got a pointer to memory that is not the device's");
}

template <class A>
void check_argument(const char* name, const Context& context, const A& argument) {
  if constexpr (std::is_pointer_v<A>) {
    check_pointer(name, context, argument);
  } else if constexpr (std::is_same_v<A, Epilogue<float>> || std::is_same_v<A, Epilogue<double>>) {
    check_pointer(name, context, argument.bias);
    check_pointer(name, context, argument.residual);
  }
}

// The reference's kernel, later.
template <auto entry>
struct Deferred;
template <class T, class... Args, Kernel<T, Args...> Kernels<T>::*entry>
struct Deferred<entry> {
  static void run(Context& context, Args... args) {
    static const Kernel<T, Args...>& kernel = backend("reference").kernels<T>().*entry;
    (check_argument<std::decay_t<Args>>(kernel.name, context, args), ...);
    check_pointer(kernel.name, context, context.status);
    enqueue(context, [status = context.status, kept = std::tuple<std::decay_t<Args>...>(args...)] {
      Context& kernels = fake().kernels;
      DeviceStatus* const own = std::exchange(kernels.status, status);
      std::apply([&](const std::decay_t<Args>&... values) { kernel(kernels, values...); }, kept);
      kernels.status = own;
    });
  }
};

template <class T>
void defer(Kernels<T>& kernels) {
#define DNN_DEFER(name, ...) kernels.name.run = Deferred<&Kernels<T>::name>::run;
  DNN_KERNELS(DNN_DEFER, T)
#undef DNN_DEFER
}

// Filled with NaN. At an odd multiple of the alignment, and never behind another block.
void* take(int ordinal, size_t bytes, void* after) {
  Fake& f = fake();
  const std::lock_guard lock(f.mutex);
  ++f.allocations;
  FakeMemory& memory = f.memory[ordinal];
  if (after) return nullptr;
  std::byte* at = memory.begin;
  for (const auto& [data, block] : memory.blocks) {
    if (at + kAlignment + bytes <= data - kAlignment) break;
    at = memory.begin + (static_cast<size_t>(data + block.bytes - memory.begin) / kPage + 1) * kPage;
  }
  if (at + kAlignment + bytes + kPage > memory.begin + kRegion) return nullptr;
  memory.blocks.emplace(at + kAlignment, FakeMemory::Block{bytes});
  const size_t end = (static_cast<size_t>(at - memory.begin) + kAlignment + bytes + kPage) / kPage * kPage;
  const bool open = f.open;
  set_open(f, false);
  memory.used = std::max(memory.used, end);
  set_open(f, true);
  std::memset(at + kAlignment, 0xFF, bytes);
  set_open(f, open);
  return at + kAlignment;
}

// The compute stream frees it, after what both streams have under way.
void give_back(int ordinal, void* pointer, size_t bytes) {
  if (!pointer) return;
  Fake& f = fake();
  const std::lock_guard lock(f.mutex);
  auto* const data = static_cast<std::byte*>(pointer);
  std::map<std::byte*, FakeMemory::Block>& blocks = f.memory[ordinal].blocks;
  const auto block = blocks.find(data);
  if (block == blocks.end() || block->second.bytes != bytes) throw Error("[fake] frees what it did not take");
  block->second.freed = true;
  const auto copied = std::make_shared<bool>(false);
  f.streams[ordinal][static_cast<int>(StreamKind::copy)].push_back({[copied] { *copied = true; }, nullptr});
  f.streams[ordinal][static_cast<int>(StreamKind::compute)].push_back({[&blocks, data, bytes] {
                                                                         std::memset(data, 0xFF, bytes);
                                                                         blocks.erase(data);
                                                                       },
                                                                       copied});
  f.waiting += 2;
}

void wait_for(Context& context) {
  Fake& f = fake();
  const std::lock_guard lock(f.mutex);
  ++f.synchronizations;
  drain(f, stream_of(context));
}

DeviceApi make_api() {
  DeviceApi api;
  api.alignment = kAlignment;
  api.alloc = take;
  api.free = give_back;
  api.allocations = [] { return fake().allocations; };
  api.stream = [](int ordinal, StreamKind kind) -> void* { return &fake().streams[ordinal][static_cast<int>(kind)]; };
  api.copy_from_host = [](Context& context, void* to, const void* from, size_t bytes) {
    if (bytes == 0) return;
    check_pointer("copy_from_host", context, to);
    const auto* const begin = static_cast<const std::byte*>(from);
    enqueue(context, [to, staged = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    });
  };
  api.copy_to_host = [](Context& context, void* to, const void* from, size_t bytes) {
    check_pointer("copy_to_host", context, from);
    if (bytes > 0) enqueue(context, [=] { std::memcpy(to, from, bytes); });
    wait_for(context);
  };
  api.copy = [](Context& context, void* to, const void* from, size_t bytes) {
    check_pointer("copy", context, to);
    check_pointer("copy", context, from);
    if (bytes > 0) enqueue(context, [=] { std::memcpy(to, from, bytes); });
  };
  api.fill = [](Context& context, void* data, unsigned char byte, size_t bytes) {
    check_pointer("fill", context, data);
    if (bytes > 0) enqueue(context, [=] { std::memset(data, byte, bytes); });
  };
  api.record = [](Context& context) {
    auto* const event = new Event;
    enqueue(context, [happened = event->happened] { *happened = true; });
    return event;
  };
  api.wait = [](Context& context, Event* event) { enqueue(context, nullptr, event->happened); };
  api.release = [](Event* event) { delete event; };
  api.synchronize = wait_for;
  api.properties = [](int) { return DeviceProperties{"a fake device", kRegion}; };
  return api;
}

}  // namespace

void add_fake_device() {
  Backend row = backend("reference");  // and its plans
  row.name = "fake";
  row.kind = DeviceKind::accelerator;
  row.device = make_api();
  row.device_count = [] { return kDevices; };
  defer(row.f32);
  defer(row.f64);
  add_backend(row);
}

int64_t fake_synchronizations() {
  const std::lock_guard lock(fake().mutex);
  return fake().synchronizations;
}

int64_t fake_waiting() {
  const std::lock_guard lock(fake().mutex);
  return fake().waiting;
}

}  // namespace test
}  // namespace dnn
