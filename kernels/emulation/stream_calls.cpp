#include <unordered_map>

#include "stream.h"

// Streams and events as the runtime offers them.
namespace emu {
namespace {

using Time = std::chrono::steady_clock::time_point;

struct Event {
  int device;
  bool timed;
  bool recorded = false;
  Point point;                 // behind the latest recording
  std::shared_ptr<Time> time;  // of it, once it is reached
};

std::unordered_map<cudaEvent_t, Event>& events() {
  static auto& all = *new std::unordered_map<cudaEvent_t, Event>;
  return all;
}

Event* find_event(cudaEvent_t event) {
  const auto found = events().find(event);
  if (found != events().end()) return &found->second;
  fault(cudaSuccess, "%p is not an event, or one that was destroyed", static_cast<void*>(event));
  return nullptr;
}

// Whether a point is reached, for a host that asks until it is.
cudaError_t query(const Point& point) {
  if (point.reached()) return sticky_error();
  run_something();
  return refuse(cudaErrorNotReady);
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  if (stream == nullptr || flags > cudaStreamNonBlocking) return refuse(cudaErrorInvalidValue);
  *stream = create_queue(current_device(), flags != cudaStreamNonBlocking);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

// What it still has to do is done.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  if (stream == nullptr || !find_queue(stream)) return refuse(cudaErrorInvalidResourceHandle);
  destroy_queue(stream);
  return device_error();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  if (!queue) return refuse(cudaErrorInvalidResourceHandle);
  // In the null stream also what that waits for.
  run_until(stream == nullptr ? put(queue, {}) : last_point(queue));
  return sticky_error();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  return queue ? query(last_point(queue)) : refuse(cudaErrorInvalidResourceHandle);
}

// The recording that is the latest now counts, also when the event is recorded again before the stream gets there.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned flags) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  const Event* const event = find_event(handle);
  if (!queue || event == nullptr) return refuse(cudaErrorInvalidResourceHandle);
  if (flags != 0) return refuse(cudaErrorInvalidValue);
  if (!event->point.reached()) {
    Operation operation;
    operation.after.push_back(event->point);
    put(queue, std::move(operation));
  }
  return sticky_error();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  static uintptr_t next_handle = 0x6'0000'0000;  // no address, and not used again
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming;
  if (event == nullptr || (flags & ~kKnown) != 0) return refuse(cudaErrorInvalidValue);
  *event = reinterpret_cast<cudaEvent_t>(next_handle += 16);
  events().emplace(*event, Event{current_device(), (flags & cudaEventDisableTiming) == 0, false, {}, nullptr});
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  const std::lock_guard lock(model_mutex());
  if (find_event(handle) == nullptr) return refuse(cudaErrorInvalidResourceHandle);
  events().erase(handle);
  return device_error();
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const auto queue = find_queue(stream);
  Event* const event = find_event(handle);
  if (!queue || event == nullptr) return refuse(cudaErrorInvalidResourceHandle);
  if (event->device != queue->device) {
    fault(cudaSuccess, "an event of device %d is recorded in a stream of device %d", event->device, queue->device);
    return refuse(cudaErrorInvalidResourceHandle);
  }
  Operation operation;
  event->time = std::make_shared<Time>();
  operation.run = [time = event->time] { *time = std::chrono::steady_clock::now(); };
  operation.in_any_case = true;
  event->recorded = true;
  event->point = put(queue, std::move(operation));
  return sticky_error();
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const Event* const event = find_event(handle);
  if (event == nullptr) return refuse(cudaErrorInvalidResourceHandle);
  run_until(event->point);
  return sticky_error();
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  const Event* const event = find_event(handle);
  return event != nullptr ? query(event->point) : refuse(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  const std::lock_guard lock(model_mutex());
  if (const cudaError_t error = device_error(); error != cudaSuccess) return error;
  if (ms == nullptr) return refuse(cudaErrorInvalidValue);
  const Event *const first = find_event(start), *const last = find_event(end);
  if (first == nullptr || last == nullptr || first->device != last->device || !first->timed || !last->timed ||
      !first->recorded || !last->recorded) {
    return refuse(cudaErrorInvalidResourceHandle);
  }
  if (!first->point.reached() || !last->point.reached()) return refuse(cudaErrorNotReady);
  *ms = std::chrono::duration<float, std::milli>(*last->time - *first->time).count();
  return cudaSuccess;
}

}  // namespace emu
