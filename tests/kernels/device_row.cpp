#include "device_row.h"

#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../pointers.h"

namespace dnn::test {
namespace {

// Where the build leaves its plug-ins; a test program may be in another folder and have the library built in.
[[maybe_unused]] const int plugins_found = setenv("DNN_PLUGINS", DNN_PLUGIN_FOLDER, 0);

std::set<KernelOperand*>& operands() {
  static std::set<KernelOperand*>& set = *new std::set<KernelOperand*>;
  return set;
}

// The operands of one call on the device.
class Copies {
 public:
  Copies(const char* kernel, Context& context) : kernel_(kernel), context_(context) {}
  ~Copies() {
    for (const Copy& copy : copies_) api().free(context_.ordinal, copy.device, copy.operand->bytes());
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  template <class P>
  void replace(P*& pointer) {
    if (!pointer) return;
    auto* const at = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(pointer)));
    Copy& copy = copy_with(at);
    copy.written |= !std::is_const_v<P>;
    pointer = static_cast<P*>(static_cast<void*>(copy.device + (at - copy.operand->begin())));
  }

  void bring_back() {
    for (const Copy& copy : copies_) {
      if (copy.written) api().copy_to_host(context_, copy.operand->begin(), copy.device, copy.operand->bytes());
    }
    api().synchronize(context_);
  }

 private:
  struct Copy {
    KernelOperand* operand;
    std::byte* device;
    bool written = false;
  };

  const DeviceApi& api() const { return context_.backend.device; }

  Copy& copy_with(std::byte* at) {
    for (Copy& copy : copies_) {
      if (contains(*copy.operand, at)) return copy;
    }
    for (KernelOperand* operand : operands()) {
      if (!contains(*operand, at)) continue;
      auto* const device = static_cast<std::byte*>(api().alloc(context_.ordinal, operand->bytes(), nullptr));
      api().copy_from_host(context_, device, operand->begin(), operand->bytes());
      copies_.push_back({operand, device});
      return copies_.back();
    }
    throw Error(std::string("[") + kernel_ + "] a test gives a pointer that is no operand's");
  }

  static bool contains(KernelOperand& operand, const std::byte* at) {
    return operand.begin() <= at && at <= operand.begin() + operand.bytes() && operand.bytes() > 0;
  }

  const char* kernel_;
  Context& context_;
  std::vector<Copy> copies_;
};

template <class T, class... Args>
void run(const Kernel<T, Args...>& kernel, Context& context, std::decay_t<Args>... args) {
  Copies copies(kernel.name, context);
  (for_each_pointer(args, [&](auto*& pointer) { copies.replace(pointer); }), ...);
  kernel(context, args...);
  copies.bring_back();
}

template <auto entry>
struct WithHostOperands;
template <class T, class... Args, Kernel<T, Args...> Kernels<T>::*entry>
struct WithHostOperands<entry> {
  static void call(Context& context, Args... args) {
    run(backend(context.backend.name).kernels<T>().*entry, context, args...);
  }
};
template <class... Args, Kernel<void, Args...> RawKernels::*entry>
struct WithHostOperands<entry> {
  static void call(Context& context, Args... args) { run(backend(context.backend.name).raw.*entry, context, args...); }
};

}  // namespace

KernelOperand::KernelOperand() { operands().insert(this); }
KernelOperand::~KernelOperand() { operands().erase(this); }

Backend with_host_operands(const Backend& row) {
  Backend wrapped = row;
#define DNN_WRAP(name, ...) \
  if (row.f32.name.run) wrapped.f32.name.run = WithHostOperands<&Kernels<float>::name>::call;
  DNN_KERNELS(DNN_WRAP, float)
#undef DNN_WRAP
#define DNN_WRAP(name, ...) \
  if (row.raw.name.run) wrapped.raw.name.run = WithHostOperands<&RawKernels::name>::call;
  DNN_RAW_KERNELS(DNN_WRAP)
#undef DNN_WRAP
  return wrapped;
}

}  // namespace dnn::test
