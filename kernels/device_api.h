#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace dnn {

struct Context;

// What a row computes on: the CPU, a device with memory and streams of its own, or nothing at all (shapes only).
enum class DeviceKind { host, accelerator, meta };

// Each device has one compute stream, shared by all threads of the program, so that tensors may be handed between
// threads, and one for copies beside it.
enum class StreamKind { compute, copy };

struct DeviceProperties {
  std::string name;          // "NVIDIA H200"
  int64_t memory_bytes = 0;  // 0 where it is unknown
};

struct Event;  // a point in a stream

// Memory and streams of a row's devices, which are numbered from 0. Sizes in bytes. What takes a Context runs in the
// order of its stream.
struct DeviceApi {
  size_t alignment = 64;     // of tensors and workspace
  bool host_memory = false;  // the CPU reads and writes the memory directly, and kernels have ended when they return

  // Null where there is no more; with `after`, also where the memory can't begin there.
  void* (*alloc)(int ordinal, size_t bytes, void* after) = nullptr;
  void (*free)(int ordinal, void* data, size_t bytes) = nullptr;  // after what the device has under way
  int64_t (*allocations)() = nullptr;  // calls of alloc so far: steady after the first step of a training loop

  void* (*stream)(int ordinal, StreamKind kind) = nullptr;
  // Host memory may be reused when these two return.
  void (*copy_from_host)(Context&, void* device, const void* host, size_t bytes) = nullptr;
  void (*copy_to_host)(Context&, void* host, const void* device, size_t bytes) = nullptr;
  void (*copy)(Context&, void* to, const void* from, size_t bytes) = nullptr;  // both on the context's device
  void (*fill)(Context&, void* data, unsigned char byte, size_t bytes) = nullptr;
  Event* (*record)(Context&) = nullptr;      // of what was put into the stream so far; release() frees it
  void (*wait)(Context&, Event*) = nullptr;  // the stream goes on when the event has happened
  void (*release)(Event*) = nullptr;
  void (*synchronize)(Context&) = nullptr;  // returns when the stream is empty
  DeviceProperties (*properties)(int ordinal) = nullptr;
};

}  // namespace dnn
