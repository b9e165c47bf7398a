#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <kernels/device_api.h>

namespace dnn {

struct Backend;

// The calling thread's means for running kernels on one device, in the order of one of its streams. Not shared between
// threads; the stream is.
struct Context {
  explicit Context(const Backend& backend, int ordinal = 0, StreamKind kind = StreamKind::compute);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Backend& backend;
  const int ordinal;   // of the row's devices
  void* const stream;  // as the row's DeviceApi gives it
  int threads = 0;     // most threads that parallel_for uses; 0: num_threads(). Results don't depend on it

  struct Arena;
  std::unique_ptr<Arena> arena;  // see Workspace
};

// Scratch memory of the kernel that is running, taken in stack order:
//   Workspace workspace(context);
//   float* panel = workspace.take<float>(count);   // 64-byte aligned, not zeroed, valid until `workspace` ends
// The memory grows to the largest need seen and is then reused, so that a training loop stops allocating.
class Workspace {
 public:
  explicit Workspace(Context& context);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  template <class T>
  T* take(int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<size_t>(count) * sizeof(T)));
  }

 private:
  void* take_bytes(size_t bytes);

  Context& context_;
  size_t block_;  // the arena's position on entry
  size_t used_;
};

// The number of threads that kernels use unless their context says otherwise: OMP_NUM_THREADS where set, else the
// CPUs that this process may run on, at most kMostThreads. Setting throws Error below 1 and above that.
constexpr int kMostThreads = 1024;
int num_threads();
void set_num_threads(int threads);

// Random numbers are counter-based: functions of these two integers and the element's index, the same on every backend
// (philox.h).
struct RandomState {
  uint64_t seed = 0;
  uint64_t call = 0;  // number of the random call in the program
};

}  // namespace dnn
