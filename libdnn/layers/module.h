#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kernels/epilogue.h>
#include <libdnn/core/named_tensor.h>

namespace dnn {

class Module;

struct NamedModule {
  std::string name;
  Module* module;
};

struct Child {
  std::string name;
  std::shared_ptr<Module> module;
};

struct Hooks;

// Error where the module is not of this very class.
void check_class(const Module& module, const std::type_info& type);

// module.clone(); Error where that does not give the module's class.
std::shared_ptr<Module> checked_clone(const Module& module);

// Takes a hook away again; may outlive the module. Letting go of the handle leaves the hook in place.
class HookHandle {
 public:
  HookHandle() = default;
  HookHandle(const std::shared_ptr<Hooks>& hooks, int64_t id) : hooks_(hooks), id_(id) {}
  void remove();

 private:
  std::weak_ptr<Hooks> hooks_;
  int64_t id_ = 0;
};

// Hooks that are removed where this ends, also by an exception.
class ScopedHooks {
 public:
  ScopedHooks() = default;
  ~ScopedHooks();
  ScopedHooks(const ScopedHooks&) = delete;
  ScopedHooks& operator=(const ScopedHooks&) = delete;
  void add(const HookHandle& handle) { handles_.push_back(handle); }

 private:
  std::vector<HookHandle> handles_;
};

// A part of a net: a function with parameters, buffers and children, which live in the module's registry and nowhere
// else. Names and their order are torch's. A net of one's own adds its parts in the constructor:
//   struct Net : dnn::Module {
//     Net() {
//       add("conv", Conv2d(1, 20, 5));
//       add("fc", Linear(20 * 24 * 24, 10));
//     }
//     Tensor forward(const Tensor& x) override { return child("fc")(flatten(relu(child("conv")(x)))); }
//     std::shared_ptr<Module> clone() const override { return clone_of(*this); }
//   };
// Copying a module copies its tensors and, by clone(), its children; what was shared inside it stays shared inside the
// copy. Gradients, hooks and the name are not copied. Threads may call one net at once where its forward changes
// nothing, as in eval() mode.
class Module {
 public:
  Module(const Module& other) { copy_registry(other); }
  Module(Module&&) = default;
  Module& operator=(const Module& other);
  Module& operator=(Module&&) = default;
  virtual ~Module() = default;

  // forward(x), with the hooks around it, the module's name on the scope (core/scope.h) and the path in errors.
  Tensor operator()(const Tensor& x);

  // activation(forward(x) + residual) in the module's own pass, where fuses(): otherwise Error. The residual may be
  // undefined. run_chain() (chain.h) calls it; `fused` are the modules that stand for the activation.
  Tensor operator()(const Tensor& x, Activation activation, const Tensor& residual,
                    std::span<Module* const> fused = {});
  virtual bool fuses() const { return false; }
  // The one device on which a module for inference alone runs; its weights are in no file. optimize_for_inference.
  virtual std::optional<Device> frozen_to() const { return {}; }
  virtual std::optional<Activation> as_activation() const { return {}; }  // of a module that is nothing else

  // In training the results of all heads, the main one first: nets with auxiliary classifiers have several. In eval()
  // mode, and of other nets, only forward's.
  TensorList heads(const Tensor& x);
  virtual std::vector<double> head_weights() const { return {1}; }  // of the heads' losses in the sum to minimise

  virtual std::shared_ptr<Module> clone() const;  // override in each class: return clone_of(*this);

  // With those of the children, "conv.weight"; a tensor or module that is held twice is listed once.
  NamedTensors named_parameters() const;
  TensorList parameters() const;
  NamedTensors named_buffers() const;
  std::vector<NamedModule> named_modules();                         // this one first, with an empty name
  const std::vector<Child>& children() const { return children_; }  // direct ones only
  NamedTensors named_tensors() const;  // what a weight file holds: parameters and buffers, under all their names

  // A part of this very module; Error where there is none of the name.
  const Tensor& parameter(std::string_view name) const;
  const Tensor& buffer(std::string_view name) const;
  Module& child(std::string_view name) const;
  Tensor parameter_or_none(std::string_view name) const;  // undefined where there is none

  void train(bool on = true);  // this and all modules below
  void eval() { train(false); }
  bool training() const { return training_; }

  // Whether the modules of a block apply what follows them in their own pass, as they do unless told not to: for this
  // and all modules below. Results differ by rounding only.
  void set_fusion(bool on);
  bool fusion() const { return fusion_; }

  void to(const Device& device);  // all tensors; handles to them stay valid
  void zero_grad();

  // Puts another module in the place of one below this, under its name, wherever it is held. Error where it isn't. As
  // after an assignment, an optimiser that was made before goes on with the old parameters.
  void replace(const Module& old, const std::shared_ptr<Module>& by);

  // A hook sees what its module computes: a module with hooks is neither fused nor fuses what follows it. It may remove
  // hooks, but not add or replace modules of a net that is running.
  // ModuleObserver (module_observer.h) only watches and leaves fusion as it is.
  using ForwardHook = std::function<void(Module& module, const TensorList& inputs, const Tensor& output)>;
  using ForwardPreHook = std::function<void(Module& module, const TensorList& inputs)>;
  HookHandle register_forward_hook(ForwardHook hook);
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  bool has_hooks() const;

  const std::string& name() const { return name_; }  // in the module that holds this one; "" for the outermost
  std::string type_name() const;                     // of the class: "Conv2d"

 protected:
  Module() = default;
  virtual Tensor forward(const Tensor& x) = 0;
  virtual Tensor forward_fused(const Tensor& x, Activation activation, const Tensor& residual);
  virtual TensorList forward_heads(const Tensor& x) { return {forward(x)}; }

  // Names are not empty, have no dot and are used once in a module; Error otherwise.
  void add_parameter(const std::string& name, Tensor value);  // asks for a gradient from now on
  void add_buffer(const std::string& name, Tensor value);
  void add_host_buffer(const std::string& name, Tensor value);  // stays where it is when the module moves: a counter
  void add(const std::string& name, std::shared_ptr<Module> module);
  template <std::derived_from<Module> M>
  void add(const std::string& name, M module) {
    add(name, std::shared_ptr<Module>(std::make_shared<M>(std::move(module))));
  }

 private:
  template <class F>
  auto call(const TensorList& inputs, std::span<Module* const> fused, F&& run);
  void copy_registry(const Module& other);
  void check_name(const std::string& name) const;
  template <class M, class F>
  static void visit(M& module, const std::string& path, F&& f);  // f(path, module): this one, then all below

  NamedTensors parameters_, buffers_;
  std::vector<std::string> host_buffers_;  // names of buffers
  std::vector<Child> children_;
  std::shared_ptr<Hooks> hooks_;  // null until the first is registered
  std::string name_;
  bool training_ = true;
  bool fusion_ = true;
};

// A copy of the module as an M; Error where the module is of a class derived from M, which must override clone().
template <std::derived_from<Module> M>
std::shared_ptr<Module> clone_of(const M& module) {
  check_class(module, typeid(M));
  return std::make_shared<M>(module);
}

// Gives each module of a net the mode that it has now back, however the block ends: modes of single modules, such as a
// batch norm that stays in eval() while the net trains, included.
class RestoreModes {
 public:
  explicit RestoreModes(Module& net);
  ~RestoreModes();
  RestoreModes(const RestoreModes&) = delete;
  RestoreModes& operator=(const RestoreModes&) = delete;

 private:
  std::vector<std::pair<Module*, bool>> modes_;
};

}  // namespace dnn
