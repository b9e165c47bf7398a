#include <libdnn/core/device.h>

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <kernels/backend.h>
#include <libdnn/core/allocator.h>
#include <libdnn/core/counted.h>

namespace dnn {

// Memory returns to an allocator that hands it out again at once, for work in the compute stream.
class AllocatedWorkspace final : public WorkspaceMemory {
 public:
  AllocatedWorkspace(Allocator& allocator, const std::string& device) : allocator_(allocator), device_(device) {}

  Block take(size_t bytes) override {
    const Allocator::Block block = allocator_.take(bytes, Allocator::Use::workspace);
    return {block.data, block.bytes, block.chunk};
  }

  void give_back(const Block& block, Context& user) override {
    if (user.kind == StreamKind::copy) {
      const DeviceApi& api = user.backend.device;
      Event* const used = api.record(user);
      api.wait(thread_context(Device(device_)), used);
      api.release(used);
    }
    allocator_.give_back({block.data, block.bytes, static_cast<Allocator::Chunk*>(block.handle)},
                         Allocator::Use::workspace);
  }

 private:
  Allocator& allocator_;
  const std::string& device_;
};

struct Device::State {
  State(std::string its_name, const Backend& row, int number)
      : name(std::move(its_name)), backend(row), ordinal(number), allocator(row, number) {}

  const std::string name;
  const Backend& backend;
  const int ordinal;
  Allocator allocator;
  AllocatedWorkspace workspace{allocator, name};
};

namespace {

// "cuda:1" is row "cuda" and number 1.
std::pair<std::string, int> row_and_number(const std::string& name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return {name, 0};
  int number = 0;
  const auto [end, fault] = std::from_chars(name.data() + colon + 1, name.data() + name.size(), number);
  if (fault != std::errc() || end != name.data() + name.size() || number < 0) {
    throw Error(fmt::format("[device] a device is a row, with or without a number: cuda, cuda:1; got '{}'", name));
  }
  return {name.substr(0, colon), number};
}

}  // namespace

// States are never destroyed: tensors in static variables may outlive everything else.
Device::Device(const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static std::vector<std::unique_ptr<State>>& states = *new std::vector<std::unique_ptr<State>>;
  const auto [row_name, number] = row_and_number(name);
  const Backend& row = dnn::backend(row_name);
  const std::lock_guard lock(mutex);
  for (const std::unique_ptr<State>& state : states) {
    if (&state->backend == &row && state->ordinal == number) {
      state_ = state.get();
      return;
    }
  }
  if (number >= row.device_count()) {
    throw Error(fmt::format("[device] there is no device {}; {} has {}", name, row_name,
                            counted(row.device_count(), "device")));
  }
  const std::string base = &row == &dnn::backend("cpu") ? "cpu" : row.name;
  states.push_back(std::make_unique<State>(number == 0 ? base : fmt::format("{}:{}", base, number), row, number));
  state_ = states.back().get();
}

const std::string& Device::name() const { return state_->name; }
const std::string& Device::row() const { return state_->backend.name; }
const Backend& Device::backend() const { return state_->backend; }
int Device::ordinal() const { return state_->ordinal; }
Allocator& Device::allocator() const { return state_->allocator; }
WorkspaceMemory& Device::workspace_memory() const { return state_->workspace; }

std::vector<DeviceRow> device_rows() {
  std::vector<DeviceRow> rows;
  for (const Backend* row : backends()) {
    DeviceRow r{row->name, row->device_count(), row->unavailable_because(*row), row == &dnn::backend("cpu"), ""};
    if (r.unavailable_because.empty() && r.devices > 0) r.description = row->device.properties(0).name;
    rows.push_back(std::move(r));
  }
  return rows;
}

namespace {
Device& default_setting() {
  static Device& device = *new Device("cpu");  // never destroyed
  return device;
}
}  // namespace

Device default_device() { return default_setting(); }
void set_default_device(const Device& device) { default_setting() = device; }

MemoryStats memory_stats(const Device& device) { return device.allocator().stats(); }

void set_memory_limit(int64_t bytes, const Device& device) {
  if (bytes < 0) throw Error(fmt::format("[set_memory_limit] a limit is 0 or more bytes; got {}", bytes));
  device.allocator().set_limit(static_cast<size_t>(bytes));
}

void synchronize(const Device& device) { device.backend().device.synchronize(thread_context(device)); }

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

Context& thread_context(const Device& device) {
  Contexts& contexts = contexts_of_thread();
  const Backend& backend = device.backend();
  for (const std::unique_ptr<Context>& context : contexts) {
    if (&context->backend == &backend && context->ordinal == device.ordinal()) return *context;
  }
  contexts.push_back(
      std::make_unique<Context>(backend, device.ordinal(), StreamKind::compute, &device.workspace_memory()));
  return *contexts.back();
}

}  // namespace dnn
