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

#include "pointers.h"

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

// Kernels run in the memory itself, which nobody else knows; what is handed out are places in a region as large that
// can't be touched.
struct FakeMemory {
  std::byte* begin = nullptr;  // of that region
  std::byte* hidden = nullptr;
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
  Context kernels{backend("reference")};
};

std::byte* reserve(int protection) {
  void* const data = mmap(nullptr, kRegion, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw Error("[fake] no room for the memory");
  return static_cast<std::byte*>(data);
}

Fake& fake() {
  static Fake& fake = *[] {
    auto* const made = new Fake;
    for (FakeMemory& memory : made->memory) {
      memory.begin = reserve(PROT_NONE);
      memory.hidden = reserve(PROT_READ | PROT_WRITE);
    }
    return made;
  }();
  return fake;
}

bool may_run(const Stream& stream) { return !stream.empty() && (!stream.front().after || *stream.front().after); }

// Runs what waits, of any stream whose turn it may be, until one is empty.
void drain(Fake& f, const Stream& until) {
  if (until.empty()) return;
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
}

Stream& stream_of(const Context& context) { return *static_cast<Stream*>(context.stream); }

void enqueue(Context& context, std::function<void()> run, std::shared_ptr<bool> after = nullptr) {
  Fake& f = fake();
  const std::lock_guard lock(f.mutex);
  stream_of(context).push_back({std::move(run), std::move(after)});
  if (++f.waiting > kMostWaiting) drain(f, stream_of(context));
}

// Where kernels find what a pointer handed out stands for; null for null. Error unless it points into a block of the
// device, or to its end.
template <class T>
T* hidden(const char* name, const Context& context, T* pointer) {
  if (!pointer) return nullptr;
  Fake& f = fake();
  const std::lock_guard lock(f.mutex);
  const FakeMemory& memory = f.memory[context.ordinal];
  const auto* const at = static_cast<const std::byte*>(static_cast<const void*>(pointer));
  for (const auto& [data, block] : memory.blocks) {
    if (block.freed || at < data || data + block.bytes < at) continue;
    return static_cast<T*>(static_cast<void*>(memory.hidden + (at - memory.begin)));
  }
  throw Error(std::string("[") + name + "] got a pointer to memory that is not the device's");
}

// An argument as it is kept until the kernel runs. Pointers within further structs would make it fault.
template <class A>
A kept(const char* name, const Context& context, A argument) {
  for_each_pointer(argument, [&]<class P>(P*& pointer) { pointer = static_cast<P*>(hidden(name, context, pointer)); });
  return argument;
}

// Queues a kernel of the reference.
template <class T, class... Args>
void run_later(const Kernel<T, Args...>& kernel, Context& context, std::type_identity_t<Args>... args) {
  enqueue(context,
          [&kernel, status = hidden(kernel.name, context, context.status),
           values = std::tuple<std::decay_t<Args>...>(kept<std::decay_t<Args>>(kernel.name, context, args)...)] {
            Context& kernels = fake().kernels;
            DeviceStatus* const own = std::exchange(kernels.status, status);
            std::apply([&](const std::decay_t<Args>&... each) { kernel(kernels, each...); }, values);
            kernels.status = own;
          });
}

// The entry of the reference's table, later.
template <auto entry>
struct Deferred;
template <class T, class... Args, Kernel<T, Args...> Kernels<T>::*entry>
struct Deferred<entry> {
  static void run(Context& context, Args... args) {
    run_later(backend("reference").kernels<T>().*entry, context, args...);
  }
};
template <class... Args, Kernel<void, Args...> RawKernels::*entry>
struct Deferred<entry> {
  static void run(Context& context, Args... args) { run_later(backend("reference").raw.*entry, context, args...); }
};

template <class T>
void defer(Kernels<T>& kernels) {
#define DNN_DEFER(name, ...) kernels.name.run = Deferred<&Kernels<T>::name>::run;
  DNN_KERNELS(DNN_DEFER, T)
#undef DNN_DEFER
}

void defer(RawKernels& kernels) {
#define DNN_DEFER(name, ...) kernels.name.run = Deferred<&RawKernels::name>::run;
  DNN_RAW_KERNELS(DNN_DEFER)
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
  std::memset(memory.hidden + (at + kAlignment - memory.begin), 0xFF, bytes);
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
  std::byte* const hidden = f.memory[ordinal].hidden + (data - f.memory[ordinal].begin);
  const auto copied = std::make_shared<bool>(false);
  f.streams[ordinal][static_cast<int>(StreamKind::copy)].push_back({[copied] { *copied = true; }, nullptr});
  f.streams[ordinal][static_cast<int>(StreamKind::compute)].push_back({[&blocks, data, hidden, bytes] {
                                                                         std::memset(hidden, 0xFF, bytes);
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
  api.allocations = [] {
    const std::lock_guard lock(fake().mutex);
    return fake().allocations;
  };
  api.stream = [](int ordinal, StreamKind kind) -> void* { return &fake().streams[ordinal][static_cast<int>(kind)]; };
  api.copy_from_host = [](Context& context, void* device, const void* host, size_t bytes) {
    if (bytes == 0) return;
    char* const to = hidden("copy_from_host", context, static_cast<char*>(device));
    const auto* const from = static_cast<const char*>(host);
    enqueue(context,
            [to, staged = std::vector<char>(from, from + bytes)] { std::memcpy(to, staged.data(), staged.size()); });
  };
  api.copy_to_host = [](Context& context, void* host, const void* device, size_t bytes) {
    const char* const from = hidden("copy_to_host", context, static_cast<const char*>(device));
    if (bytes > 0) enqueue(context, [=] { std::memcpy(host, from, bytes); });
    wait_for(context);
  };
  api.copy = [](Context& context, void* to_device, const void* from_device, size_t bytes) {
    char* const to = hidden("copy", context, static_cast<char*>(to_device));
    const char* const from = hidden("copy", context, static_cast<const char*>(from_device));
    if (bytes > 0) enqueue(context, [=] { std::memcpy(to, from, bytes); });
  };
  api.fill = [](Context& context, void* device, unsigned char byte, size_t bytes) {
    char* const data = hidden("fill", context, static_cast<char*>(device));
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
  defer(row.raw);
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
