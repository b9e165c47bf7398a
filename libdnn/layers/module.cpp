#include <libdnn/layers/module.h>

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <typeinfo>

#include <libdnn/core/scope.h>
#include <libdnn/layers/module_observer.h>

namespace dnn {

struct Hooks {
  struct Pre {
    int64_t id;
    Module::ForwardPreHook run;
  };
  struct Post {
    int64_t id;
    Module::ForwardHook run;
  };
  std::vector<Pre> pre;
  std::vector<Post> post;
  int64_t next_id = 0;
};

void HookHandle::remove() {
  const std::shared_ptr<Hooks> hooks = hooks_.lock();
  if (!hooks) return;
  const auto mine = [this](const auto& hook) { return hook.id == id_; };
  std::erase_if(hooks->pre, mine);
  std::erase_if(hooks->post, mine);
}

ScopedHooks::~ScopedHooks() {
  for (HookHandle& handle : handles_) handle.remove();
}

namespace {

std::string class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  const std::string full = status == 0 ? text.get() : type.name();
  const size_t colons = full.rfind("::", full.find('<'));
  return colons == std::string::npos ? full : full.substr(colons + 2);
}

// What the copy under way has made so far, by the original's address.
struct Copies {
  std::map<const void*, std::shared_ptr<Module>> modules;
  std::map<const void*, Tensor> tensors;
};

thread_local Copies* copies_under_way = nullptr;

// Starts a copy, or joins the one that this is a part of.
class Copying {
 public:
  Copying() : outer_(copies_under_way) {
    if (!outer_) copies_under_way = &own_;
  }
  ~Copying() { copies_under_way = outer_; }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

  Tensor copy(const Tensor& tensor) {
    Tensor& known = copies_under_way->tensors[tensor.impl()];
    if (!known.defined()) {
      known = tensor.detach().clone();
      known.requires_grad(tensor.requires_grad());
    }
    return known;
  }

  std::shared_ptr<Module> copy(const Module& module) {
    std::shared_ptr<Module>& known = copies_under_way->modules[&module];
    if (!known) known = checked_clone(module);
    return known;
  }

 private:
  Copies* outer_;
  Copies own_;
};

template <class Entries>
auto find(Entries& entries, std::string_view name) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
}

template <class Entries>
const auto& at(const Entries& entries, std::string_view name, const char* kind, const Module& module) {
  const auto entry = find(entries, name);
  if (entry != entries.end()) return *entry;
  throw Error(fmt::format("[module] {} has no {} of this name; got '{}'", module.type_name(), kind, name));
}

std::string join(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

}  // namespace

void check_class(const Module& module, const std::type_info& type) {
  if (typeid(module) == type) return;
  throw Error(fmt::format("[clone] {} must override clone(); got a {}", module.type_name(), class_name(type)));
}

std::shared_ptr<Module> checked_clone(const Module& module) {
  std::shared_ptr<Module> copy = module.clone();
  const Module& made = *copy;
  check_class(module, typeid(made));
  return copy;
}

void Module::copy_registry(const Module& other) {
  Copying copying;
  NamedTensors parameters, buffers;
  std::vector<Child> children;
  for (const NamedTensor& p : other.parameters_) parameters.push_back({p.name, copying.copy(p.tensor)});
  for (const NamedTensor& b : other.buffers_) buffers.push_back({b.name, copying.copy(b.tensor)});
  for (const Child& c : other.children_) {
    children.push_back({c.name, copying.copy(*c.module)});
    children.back().module->name_ = c.name;
  }
  parameters_ = std::move(parameters);
  buffers_ = std::move(buffers);
  host_buffers_ = other.host_buffers_;
  children_ = std::move(children);
  training_ = other.training_;
  fusion_ = other.fusion_;
}

Module& Module::operator=(const Module& other) {
  if (this != &other) copy_registry(other);
  return *this;
}

namespace {

const Tensor& main_result(const Tensor& y) { return y; }
const Tensor& main_result(const TensorList& heads) { return heads.front(); }

}  // namespace

// run(), with all that a call of a module brings.
template <class F>
auto Module::call(const TensorList& inputs, std::span<Module* const> fused, F&& run) {
  const Scope scope(name_);
  try {
    if (!hooks_ && !ModuleObserver::any()) return run();
    const Hooks hooks = hooks_ ? *hooks_ : Hooks();  // a hook may remove itself
    ModuleObserver::notify_before({*this, fused});
    for (const Hooks::Pre& hook : hooks.pre) hook.run(*this, inputs);
    auto y = run();
    for (const Hooks::Post& hook : hooks.post) hook.run(*this, inputs, main_result(y));
    ModuleObserver::notify_after({*this, fused}, main_result(y));
    return y;
  } catch (Error& error) {
    error.add_path(scope_path());
    throw;
  }
}

Tensor Module::operator()(const Tensor& x) {
  return call({x}, {}, [&] { return forward(x); });
}

Tensor Module::operator()(const Tensor& x, Activation activation, const Tensor& residual,
                          std::span<Module* const> fused) {
  return call({x, residual}, fused, [&] { return forward_fused(x, activation, residual); });
}

TensorList Module::heads(const Tensor& x) {
  return call({x}, {}, [&] {
    if (!training_) return TensorList{forward(x)};
    TensorList heads = forward_heads(x);
    if (heads.empty()) throw Error(fmt::format("[module] {} gives no head; the main one is always there", type_name()));
    return heads;
  });
}

Tensor Module::forward_fused(const Tensor&, Activation, const Tensor&) {
  throw Error(fmt::format("[module] {} applies no activation in its own pass", type_name()));
}

std::shared_ptr<Module> Module::clone() const {
  throw Error(fmt::format("[clone] {} must override clone() to be copied", type_name()));
}

template <class M, class F>
void Module::visit(M& module, const std::string& path, F&& f) {
  f(path, module);
  for (const Child& child : module.children_) visit(*child.module, join(path, child.name), f);
}

namespace {

void append_new(NamedTensors& list, std::set<const void*>& seen, const std::string& path, const NamedTensors& more) {
  for (const NamedTensor& entry : more) {
    if (seen.insert(entry.tensor.impl()).second) list.push_back({join(path, entry.name), entry.tensor});
  }
}

}  // namespace

NamedTensors Module::named_parameters() const {
  NamedTensors list;
  std::set<const void*> seen;
  visit(*this, "", [&](const std::string& path, const Module& m) { append_new(list, seen, path, m.parameters_); });
  return list;
}

NamedTensors Module::named_buffers() const {
  NamedTensors list;
  std::set<const void*> seen;
  visit(*this, "", [&](const std::string& path, const Module& m) { append_new(list, seen, path, m.buffers_); });
  return list;
}

TensorList Module::parameters() const {
  TensorList list;
  for (NamedTensor& entry : named_parameters()) list.push_back(std::move(entry.tensor));
  return list;
}

NamedTensors Module::named_tensors() const {
  NamedTensors list;
  visit(*this, "", [&](const std::string& path, const Module& m) {
    for (const NamedTensor& p : m.parameters_) list.push_back({join(path, p.name), p.tensor});
    for (const NamedTensor& b : m.buffers_) list.push_back({join(path, b.name), b.tensor});
  });
  return list;
}

std::vector<NamedModule> Module::named_modules() {
  std::vector<NamedModule> list;
  std::set<const Module*> seen;
  visit(*this, "", [&](const std::string& path, Module& m) {
    if (seen.insert(&m).second) list.push_back({path, &m});
  });
  return list;
}

const Tensor& Module::parameter(std::string_view name) const {
  return at(parameters_, name, "parameter", *this).tensor;
}

const Tensor& Module::buffer(std::string_view name) const { return at(buffers_, name, "buffer", *this).tensor; }

Module& Module::child(std::string_view name) const { return *at(children_, name, "child", *this).module; }

Tensor Module::parameter_or_none(std::string_view name) const {
  const auto entry = find(parameters_, name);
  return entry == parameters_.end() ? Tensor() : entry->tensor;
}

void Module::train(bool on) {
  training_ = on;
  for (const Child& child : children_) child.module->train(on);
}

// Outer modules first, as train() sets all below.
RestoreModes::RestoreModes(Module& net) {
  for (const NamedModule& entry : net.named_modules()) modes_.emplace_back(entry.module, entry.module->training());
}

RestoreModes::~RestoreModes() {
  for (const auto& [module, training] : modes_) module->train(training);
}

void Module::set_fusion(bool on) {
  fusion_ = on;
  for (const Child& child : children_) child.module->set_fusion(on);
}

void Module::to(const Device& device) {
  visit(*this, "", [&](const std::string& path, const Module& m) {
    const std::optional<Device> only = m.frozen_to();
    if (!only || *only == device) return;
    throw Error(fmt::format("[to] {} '{}' is frozen for {}, not for {}; take the net before optimize_for_inference",
                            m.type_name(), path, only->name(), device.name()));
  });
  visit(*this, "", [&](const std::string&, const Module& m) {
    for (const NamedTensor& p : m.parameters_) p.tensor.move_to(device);
    for (const NamedTensor& b : m.buffers_) {
      const bool stays = std::find(m.host_buffers_.begin(), m.host_buffers_.end(), b.name) != m.host_buffers_.end();
      if (!stays) b.tensor.move_to(device);
    }
  });
}

void Module::replace(const Module& old, const std::shared_ptr<Module>& by) {
  if (!by) throw Error("[replace] another module takes the place; got a null pointer");
  std::shared_ptr<Module> kept;  // `old` lives until the last name was read
  visit(*this, "", [&](const std::string&, Module& m) {
    for (Child& child : m.children_) {
      if (child.module.get() != &old) continue;
      kept = child.module;
      by->name_ = child.name;
      child.module = by;
    }
  });
  if (!kept) throw Error(fmt::format("[replace] {} holds no such {}", type_name(), old.type_name()));
}

void Module::zero_grad() {
  for (const Tensor& parameter : parameters()) parameter.set_grad(Tensor());
}

HookHandle Module::register_forward_hook(ForwardHook hook) {
  if (!hook) throw Error(fmt::format("[module] a hook is a function; got an empty one for {}", type_name()));
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  hooks_->post.push_back({hooks_->next_id, std::move(hook)});
  return HookHandle(hooks_, hooks_->next_id++);
}

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  if (!hook) throw Error(fmt::format("[module] a hook is a function; got an empty one for {}", type_name()));
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  hooks_->pre.push_back({hooks_->next_id, std::move(hook)});
  return HookHandle(hooks_, hooks_->next_id++);
}

bool Module::has_hooks() const { return hooks_ && !(hooks_->pre.empty() && hooks_->post.empty()); }

std::string Module::type_name() const { return class_name(typeid(*this)); }

void Module::check_name(const std::string& name) const {
  if (name.empty() || name.find('.') != std::string::npos) {
    throw Error(fmt::format("[module] a name is not empty and has no dot; got '{}'", name));
  }
  if (find(parameters_, name) != parameters_.end() || find(buffers_, name) != buffers_.end() ||
      find(children_, name) != children_.end()) {
    throw Error(fmt::format("[module] a name is used once; got '{}' again for {}", name, type_name()));
  }
}

void Module::add_parameter(const std::string& name, Tensor value) {
  check_name(name);
  value.requires_grad(true);
  parameters_.push_back({name, std::move(value)});
}

void Module::add_buffer(const std::string& name, Tensor value) {
  check_name(name);
  buffers_.push_back({name, std::move(value)});
}

void Module::add_host_buffer(const std::string& name, Tensor value) {
  add_buffer(name, std::move(value));
  host_buffers_.push_back(name);
}

void Module::add(const std::string& name, std::shared_ptr<Module> module) {
  check_name(name);
  if (!module) throw Error(fmt::format("[module] a child is a module; got a null pointer for '{}'", name));
  visit(*module, "", [&](const std::string&, const Module& m) {
    if (&m == this) throw Error(fmt::format("[module] '{}' holds the very {} that it is added to", name, type_name()));
  });
  module->name_ = name;
  children_.push_back({name, std::move(module)});
}

}  // namespace dnn
