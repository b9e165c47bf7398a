#include <libdnn/core/device.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dnn {

struct Device::State {
  explicit State(const Backend& row) : name(row.name), backend(row), allocator(row) {}

  std::string name;
  const Backend& backend;
  Allocator allocator;
};

// States are never destroyed: tensors in static variables may outlive everything else.
Device::Device(const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static std::vector<std::unique_ptr<State>>& states = *new std::vector<std::unique_ptr<State>>;
  const Backend& row = dnn::backend(name);
  const std::lock_guard lock(mutex);
  for (const std::unique_ptr<State>& state : states) {
    if (&state->backend == &row) {
      state_ = state.get();
      return;
    }
  }
  states.push_back(std::make_unique<State>(row));
  state_ = states.back().get();
  if (&row == &dnn::backend("cpu")) state_->name = "cpu";
}

const std::string& Device::name() const { return state_->name; }
const Backend& Device::backend() const { return state_->backend; }
Allocator& Device::allocator() const { return state_->allocator; }

namespace {
Device& default_setting() {
  static Device& device = *new Device("cpu");  // never destroyed
  return device;
}
}  // namespace

Device default_device() { return default_setting(); }
void set_default_device(const Device& device) { default_setting() = device; }

MemoryStats memory_stats(const Device& device) { return device.allocator().stats(); }

namespace {

using Contexts = std::vector<std::unique_ptr<Context>>;

// The thread's contexts, freed as it ends. What runs later still, destructors of other thread-local variables and, in
// the main thread, of static ones, has contexts that stay to the end of the process.
thread_local Contexts* thread_contexts = nullptr;
thread_local bool thread_has_ended = false;

struct FreeContexts {
  ~FreeContexts() {
    delete std::exchange(thread_contexts, nullptr);
    thread_has_ended = true;
  }
};

Contexts& contexts_of_thread() {
  if (thread_contexts) return *thread_contexts;
  auto contexts = std::make_unique<Contexts>();
  if (thread_has_ended) {
    static std::mutex& mutex = *new std::mutex;
    static std::vector<std::unique_ptr<Contexts>>& kept = *new std::vector<std::unique_ptr<Contexts>>;
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(contexts));
    thread_contexts = kept.back().get();
  } else {
    thread_local FreeContexts at_end;
    thread_contexts = contexts.release();
  }
  return *thread_contexts;
}

}  // namespace

Context& thread_context(const Backend& backend) {
  Contexts& contexts = contexts_of_thread();
  for (const std::unique_ptr<Context>& context : contexts) {
    if (&context->backend == &backend) return *context;
  }
  contexts.push_back(std::make_unique<Context>(backend));
  return *contexts.back();
}

}  // namespace dnn
