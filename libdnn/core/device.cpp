#include <libdnn/core/device.h>

#include <memory>
#include <mutex>
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
  static Device device("cpu");
  return device;
}
}  // namespace

Device default_device() { return default_setting(); }
void set_default_device(const Device& device) { default_setting() = device; }

MemoryStats memory_stats(const Device& device) { return device.allocator().stats(); }

Context& thread_context(const Backend& backend) {
  thread_local std::vector<std::unique_ptr<Context>> contexts;
  for (const std::unique_ptr<Context>& context : contexts) {
    if (&context->backend == &backend) return *context;
  }
  contexts.push_back(std::make_unique<Context>(backend));
  return *contexts.back();
}

}  // namespace dnn
