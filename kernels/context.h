#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <kernels/device_api.h>
#include <kernels/random_state.h>

namespace dnn {

struct Backend;
struct DeviceStatus;

// Where the workspace of a context comes from.
class WorkspaceMemory {
 public:
  struct Block {
    void* data = nullptr;
    size_t bytes = 0;
    void* handle = nullptr;  // the source's own
  };
  virtual Block take(size_t bytes) = 0;  // throws Error where there is no more
  // What the user's stream has under way may need it still.
  virtual void give_back(const Block& block, Context& user) = 0;

 protected:
  ~WorkspaceMemory() = default;
};

// The calling thread's means for running kernels on one device, in the order of one of its streams. Not shared between
// threads; the stream is.
struct Context {
  // Workspace comes from `memory`, which outlives this; null: straight from the row.
  explicit Context(const Backend& backend, int ordinal = 0, StreamKind kind = StreamKind::compute,
                   WorkspaceMemory* memory = nullptr);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Backend& backend;
  const int ordinal;  // of the row's devices
  const StreamKind kind;
  void* const stream;  // as the row's DeviceApi gives it
  WorkspaceMemory* const memory;
  int threads = 0;  // most threads that parallel_for uses; 0: num_threads(). Results don't depend on it

  // What kernels report, in the device's memory; null on meta. One for each context, so that a fault in one thread does
  // not stop the training in another.
  DeviceStatus* status;
  bool status_pending = false;  // a kernel that may have set it was called, and nobody has read it since

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

}  // namespace dnn
