#include <libdnn/layers/module_observer.h>

namespace dnn {
namespace {

thread_local const ModuleObserver* innermost = nullptr;

}  // namespace

std::string ModuleCall::name_suffix() const {
  std::string suffix;
  for (const Module* m : fused) suffix += "+" + m->name();
  return suffix;
}

std::string ModuleCall::type() const {
  std::string type = module.type_name();
  for (const Module* m : fused) type += "+" + m->type_name();
  return type;
}

ModuleObserver::ModuleObserver(Before before, After after)
    : before_(std::move(before)), after_(std::move(after)), outer_(innermost) {
  innermost = this;
}

ModuleObserver::~ModuleObserver() { innermost = outer_; }

bool ModuleObserver::any() { return innermost != nullptr; }

void ModuleObserver::notify_before(const ModuleCall& call) {
  for (const ModuleObserver* o = innermost; o; o = o->outer_) {
    if (o->before_) o->before_(call);
  }
}

void ModuleObserver::notify_after(const ModuleCall& call, const Tensor& output) {
  for (const ModuleObserver* o = innermost; o; o = o->outer_) {
    if (o->after_) o->after_(call, output);
  }
}

}  // namespace dnn
