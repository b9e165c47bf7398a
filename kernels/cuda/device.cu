// Memory, streams and events of the CUDA devices.
#include <kernels/cuda/device.h>

#include <atomic>
#include <mutex>
#include <string>

#include <kernels/error.h>

#include <kernels/cuda/cuda.h>

namespace dnn {

struct Event {
  cudaEvent_t event = nullptr;
};

namespace cuda {
namespace {

constexpr int kMostDevices = 64;

std::atomic<int64_t> allocation_count{0};

// A device's streams, made when it is first used. They don't wait for the default stream, which nothing here uses.
struct Streams {
  std::once_flag made;
  cudaStream_t compute = nullptr, copy = nullptr;
};

Streams& streams_of(int ordinal) {
  static Streams* const streams = new Streams[kMostDevices];  // never destroyed, as contexts in static variables aren't
  Streams& of_device = streams[ordinal];
  std::call_once(of_device.made, [&] {
    use_device(ordinal);
    check(cudaStreamCreateWithFlags(&of_device.compute, cudaStreamNonBlocking), "device", "a compute stream");
    check(cudaStreamCreateWithFlags(&of_device.copy, cudaStreamNonBlocking), "device", "a copy stream");
  });
  return of_device;
}

void* device_stream(int ordinal, StreamKind kind) {
  Streams& streams = streams_of(ordinal);
  return kind == StreamKind::compute ? streams.compute : streams.copy;
}

void* device_alloc(int ordinal, size_t bytes, void* after) {
  if (after) return nullptr;  // memory comes from wherever the driver has it
  use_device(ordinal);
  ++allocation_count;
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it does not stay
    return nullptr;
  }
  check(status, "device", "alloc");
  return data;
}

// Waits for what the device has under way. Called by destructors: what ails the device is reported by the next call
// that can throw.
void device_free(int ordinal, void* data, size_t) {
  if (!data) return;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || cudaSetDevice(ordinal) != cudaSuccess) return;
  cudaFree(data);
}

void synchronize(Context& context) {
  use_device(context.ordinal);
  check(cudaStreamSynchronize(stream_of(context)), "device", "synchronize");
}

// Pageable memory is read before the call returns; memory that the device reads itself may be reused after a wait.
void copy_from_host(Context& context, void* device, const void* host, size_t bytes) {
  if (bytes == 0) return;
  use_device(context.ordinal);
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_of(context)), "device", "copy from host");
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, host), "device", "copy from host");
  if (attributes.type != cudaMemoryTypeUnregistered) synchronize(context);
}

void copy_to_host(Context& context, void* host, const void* device, size_t bytes) {
  use_device(context.ordinal);
  if (bytes > 0) {
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_of(context)), "device", "copy to host");
  }
  synchronize(context);
}

void copy(Context& context, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  use_device(context.ordinal);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(context)), "device", "copy");
}

void fill_bytes(Context& context, void* data, unsigned char byte, size_t bytes) {
  if (bytes == 0) return;
  use_device(context.ordinal);
  check(cudaMemsetAsync(data, byte, bytes, stream_of(context)), "device", "fill");
}

Event* record(Context& context) {
  use_device(context.ordinal);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "device", "an event");
  check(cudaEventRecord(event, stream_of(context)), "device", "record");
  return new Event{event};
}

void wait(Context& context, Event* event) {
  use_device(context.ordinal);
  check(cudaStreamWaitEvent(stream_of(context), event->event, 0), "device", "wait");
}

void release(Event* event) {
  if (!event) return;
  cudaEventDestroy(event->event);
  delete event;
}

DeviceProperties properties(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "device", "properties");
  return {properties.name, static_cast<int64_t>(properties.totalGlobalMem)};
}

}  // namespace

void check(cudaError_t status, const char* op, const char* what) {
#ifdef CUDA_EMULATION
  if (emu::fault_count() > 0) throw Error(std::string("[") + op + "] " + emu::first_fault());
#endif
  if (status == cudaSuccess) return;
  throw Error(std::string("[") + op + "] " + what + (*what ? ": " : "") + cudaGetErrorName(status) + ": " +
              cudaGetErrorString(status));
}

void use_device(int ordinal) { check(cudaSetDevice(ordinal), "device", "the device of the context"); }

void launch_failed(cudaError_t status, const char* op, dim3 grid, dim3 block, size_t shared_bytes) {
  const auto text = [](dim3 size) {
    return "(" + std::to_string(size.x) + ", " + std::to_string(size.y) + ", " + std::to_string(size.z) + ")";
  };
  const std::string shape = "launch of " + text(grid) + " blocks of " + text(block) + " threads with " +
                            std::to_string(shared_bytes) + " bytes of shared memory";
  check(status, op, shape.c_str());
  throw Error(std::string("[") + op + "] " + shape + " failed");
}

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count < kMostDevices ? count : kMostDevices;
}

DeviceApi device_api() {
  DeviceApi api;
  api.alignment = 256;
  api.alloc = device_alloc;
  api.free = device_free;
  api.allocations = [] { return allocation_count.load(); };
  api.stream = device_stream;
  api.copy_from_host = copy_from_host;
  api.copy_to_host = copy_to_host;
  api.copy = copy;
  api.fill = fill_bytes;
  api.record = record;
  api.wait = wait;
  api.release = release;
  api.synchronize = synchronize;
  api.properties = properties;
  return api;
}

}  // namespace cuda
}  // namespace dnn
