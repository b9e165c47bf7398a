#include <libdnn/optim/sgd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <libdnn/core/dispatch.h>

namespace dnn {
namespace {

void check(bool ok, const char* what, double got) {
  if (!ok) throw Error(fmt::format("[sgd] {}; got {}", what, got));
}

}  // namespace

SGD::SGD(const NamedTensors& parameters, const Options& options) : options_(options) {
  set_lr(options.lr);
  check(options.momentum >= 0 && std::isfinite(options.momentum), "momentum is a number from 0 on", options.momentum);
  check(options.weight_decay >= 0 && std::isfinite(options.weight_decay), "weight_decay is a number from 0 on",
        options.weight_decay);
  check(!options.nesterov || options.momentum > 0, "nesterov needs a momentum", options.momentum);
  if (parameters.empty()) {
    throw Error("[sgd] there are no parameters to train; a module has those that it registers, by add() and such");
  }
  slots_.reserve(parameters.size());
  std::set<const TensorImpl*> seen;
  for (const NamedTensor& p : parameters) {
    const Tensor& w = p.tensor;
    if (!w.defined()) throw Error(fmt::format("[sgd] '{}' is no tensor yet", p.name));
    if (!seen.insert(w.impl()).second) throw Error(fmt::format("[sgd] '{}' is there twice", p.name));
    const bool moves = options.momentum != 0 && w.requires_grad();
    slots_.push_back({p.name, w, moves ? zeros(w.shape(), w.dtype(), w.device()) : Tensor()});
  }
}

void SGD::set_lr(double lr) {
  check(lr >= 0 && std::isfinite(lr), "the learning rate is a number from 0 on", lr);
  options_.lr = lr;
}

void SGD::step() {
  const SgdParams params{options_.lr, options_.momentum, options_.weight_decay, options_.nesterov};
  for (Slot& slot : slots_) {
    const Tensor& w = slot.parameter;
    const Tensor dw = w.grad();
    if (!dw.defined()) continue;
    Tensor& v = slot.velocity;
    if (options_.momentum != 0) {
      if (!v.defined()) v = zeros(w.shape(), w.dtype(), w.device());
      v.move_to(w.device());  // the net may have moved
    }
    run_kernel("sgd_step", {&w, &dw}, [&]<class T>(const Kernels<T>& k, Context& context) {
      k.sgd_step(context, w.numel(), params, dw.data<T>(), v.defined() ? v.data<T>() : nullptr, w.data<T>());
    });
  }
  ++step_count_;
}

void SGD::zero_grad() {
  for (const Slot& slot : slots_) slot.parameter.set_grad(Tensor());
}

NamedTensors SGD::velocities() const {
  NamedTensors list;
  for (const Slot& slot : slots_) {
    if (slot.velocity.defined()) list.push_back({slot.name, slot.velocity});
  }
  return list;
}

void SGD::restore(int64_t step_count, const NamedTensors& velocities) {
  if (step_count < 0) throw Error(fmt::format("[sgd] the count of steps is at least 0; got {}", step_count));
  std::vector<Slot> slots = slots_;
  for (Slot& slot : slots) slot.velocity = Tensor();
  for (const NamedTensor& v : velocities) {
    const auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.name == v.name; });
    if (slot == slots.end())
      throw Error(fmt::format("[sgd] no parameter of this name; got a velocity for '{}'", v.name));
    const Tensor& w = slot->parameter;
    if (!(v.tensor.shape() == w.shape()) || v.tensor.dtype() != w.dtype()) {
      throw Error(fmt::format("[sgd] {} is {} {}; got a velocity {} {}", v.name, name_of(w.dtype()), w.shape().str(),
                              name_of(v.tensor.dtype()), v.tensor.shape().str()));
    }
    slot->velocity = Tensor(w.shape(), w.dtype(), w.device());
    slot->velocity.copy_from(v.tensor);
  }
  slots_ = std::move(slots);
  step_count_ = step_count;
}

}  // namespace dnn
