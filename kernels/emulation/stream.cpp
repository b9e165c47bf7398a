#include "stream.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <unordered_map>

#include "heap.h"

namespace emu {
namespace {

constexpr size_t kMostWaiting = 1024;                    // operations of a queue
constexpr size_t kMostBytesWaiting = size_t{256} << 20;  // of one, copies of what the host gave

struct Streams {
  std::array<std::shared_ptr<Queue>, kMostDevices> null;
  std::unordered_map<cudaStream_t, std::shared_ptr<Queue>> handles;
  std::vector<std::shared_ptr<Queue>> queues;  // all but destroyed ones that have nothing more to do
  uintptr_t next_handle = 0x5'0000'0000;       // no address, and not used again
  bool deferred = true;
  bool runs = false;
  std::mt19937_64 random{1};
};

Streams& streams() {
  static auto& all = *[] {
    auto* const created = new Streams;
    const char* const wish = std::getenv("EMU_STREAMS");
    created->deferred = wish == nullptr || std::strcmp(wish, "eager") != 0;
    for (int device = 0; device < kMostDevices; ++device) {
      auto queue = std::make_shared<Queue>();
      queue->device = device;
      created->queues.push_back(queue);
      created->null[static_cast<size_t>(device)] = std::move(queue);
    }
    return created;
  }();
  return all;
}

bool is_null_queue(const Queue& queue) { return streams().null[static_cast<size_t>(queue.device)].get() == &queue; }

// What the first operation of the queue has to wait for, if anything.
const Point* obstacle(const Queue& queue) {
  for (const Point& point : queue.waiting.front().after) {
    if (!point.reached()) return &point;
  }
  return nullptr;
}

void run_first(Queue& queue) {
  Operation operation = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  queue.bytes -= operation.bytes;
  streams().runs = true;
  if (operation.run && (operation.in_any_case || !has_sticky_error())) operation.run();
  streams().runs = false;
  ++queue.done;
}

// The operation without which the queue can't go on.
Queue& next_needed(Queue& queue) {
  Queue* needed = &queue;
  while (const Point* const point = obstacle(*needed)) needed = point->queue.get();
  return *needed;
}

// Any that can go on; null where nothing waits.
Queue* next_of_any() {
  std::vector<Queue*> ready;
  for (const auto& queue : streams().queues) {
    if (!queue->waiting.empty() && obstacle(*queue) == nullptr) ready.push_back(queue.get());
  }
  return ready.empty() ? nullptr : ready[streams().random() % ready.size()];
}

}  // namespace

bool streams_are_deferred() { return streams().deferred; }
bool an_operation_runs() { return streams().runs; }

std::shared_ptr<Queue> null_queue(int device) { return streams().null[static_cast<size_t>(device)]; }

std::shared_ptr<Queue> find_queue(cudaStream_t stream) {
  if (stream == nullptr) return null_queue(current_device());
  const auto found = streams().handles.find(stream);
  if (found != streams().handles.end()) return found->second;
  fault(cudaSuccess, "%p is not a stream, or one that was destroyed", static_cast<void*>(stream));
  return nullptr;
}

cudaStream_t create_queue(int device, bool blocking) {
  auto queue = std::make_shared<Queue>();
  queue->device = device;
  queue->blocking = blocking;
  auto* const handle = reinterpret_cast<cudaStream_t>(streams().next_handle += 16);
  streams().handles[handle] = queue;
  streams().queues.push_back(std::move(queue));
  return handle;
}

void destroy_queue(cudaStream_t stream) { streams().handles.erase(stream); }

Point last_point(const std::shared_ptr<Queue>& queue) { return {queue, queue->put}; }

Point put(const std::shared_ptr<Queue>& queue, Operation operation) {
  if (is_null_queue(*queue)) {
    for (const auto& other : streams().queues) {
      if (other != queue && other->device == queue->device && other->blocking && !other->waiting.empty()) {
        operation.after.push_back(last_point(other));
      }
    }
  } else if (queue->blocking) {
    const auto null = null_queue(queue->device);
    if (!null->waiting.empty()) operation.after.push_back(last_point(null));
  }
  queue->bytes += operation.bytes;
  queue->waiting.push_back(std::move(operation));
  ++queue->put;
  const Point behind = last_point(queue);
  if (!streams().deferred || queue->bytes > kMostBytesWaiting) {
    run_until(behind);
  } else if (queue->waiting.size() > kMostWaiting) {
    run_until({queue, queue->done + kMostWaiting / 2});
  }
  return behind;
}

void run_until(const Point& point) {
  // Now and then only what must run does; else a wait for another stream than the right one would rarely be seen.
  const bool only_needed = streams().random() % 2 == 0;
  while (!point.reached()) run_first(only_needed ? next_needed(*point.queue) : *next_of_any());
  auto& queues = streams().queues;
  std::erase_if(queues, [](const auto& queue) { return queue.use_count() == 1 && queue->waiting.empty(); });
}

void run_all(int device) {
  auto of_device = streams().queues;
  std::erase_if(of_device, [&](const auto& queue) { return queue->device != device; });
  std::shuffle(of_device.begin(), of_device.end(), streams().random);
  for (const auto& queue : of_device) run_until(last_point(queue));
}

void run_something() {
  if (Queue* const queue = next_of_any()) run_first(*queue);
}

void drop_all(int device) {
  for (const auto& queue : streams().queues) {
    if (queue->device != device) continue;
    while (!queue->waiting.empty()) {
      queue->waiting.front().run = nullptr;
      queue->waiting.front().after.clear();
      run_first(*queue);
    }
  }
  std::erase_if(streams().handles, [&](const auto& each) { return each.second->device == device; });
}

void set_deferred(bool deferred, uint64_t seed) {
  const std::lock_guard lock(model_mutex());
  for (int device = 0; device < kMostDevices; ++device) run_all(device);
  streams().deferred = deferred;
  streams().random.seed(seed);
}

int device_of_stream(cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  if (stream == nullptr) return current_device();
  const auto found = streams().handles.find(stream);
  return found != streams().handles.end() ? found->second->device : -1;
}

void enqueue(cudaStream_t stream, std::function<void()> run) {
  const std::lock_guard lock(model_mutex());
  if (const auto queue = find_queue(stream)) put(queue, {std::move(run), {}});
}

}  // namespace emu
