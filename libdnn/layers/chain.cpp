#include <libdnn/layers/chain.h>

#include <span>

#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/check.h>

namespace dnn {
namespace {

thread_local const ChainObserver::Function* observer = nullptr;

// As a fused pass takes it: nothing is broadcast.
Tensor add_residual(const Tensor& y, const Tensor& residual) {
  check_shape("chain", "residual", residual, y.shape());
  return y + residual;
}

}  // namespace

ChainObserver::ChainObserver(Function f) : f_(std::move(f)), outer_(observer) { observer = &f_; }
ChainObserver::~ChainObserver() { observer = outer_; }

Tensor run_chain(const std::vector<Module*>& modules, const Tensor& x, bool fusion, const Tensor& residual,
                 Activation activation) {
  const size_t count = modules.size();
  for (size_t i = 1; observer && i < count; ++i) (*observer)(*modules[i - 1], *modules[i]);
  size_t end = count;  // of what comes before the residual
  while (end > 0 && modules[end - 1]->as_activation()) --end;

  Tensor y = end == 0 && residual.defined() ? add_residual(x, residual) : x;
  for (size_t i = 0; i < count;) {
    Module& module = *modules[i++];
    const Tensor added = i == end ? residual : Tensor();
    if (!fusion || !module.fuses() || module.has_hooks()) {
      y = module(y);
      if (added.defined()) y = add_residual(y, added);
      continue;
    }
    const size_t first = i;
    Activation next = Activation::none;  // what stands for no activation, as a folded batch norm, is passed over
    while (i < count && next == Activation::none && modules[i]->as_activation() && !modules[i]->has_hooks()) {
      next = *modules[i++]->as_activation();
    }
    const std::span<Module* const> fused(modules.data() + first, i - first);
    if (i == count && next == Activation::none) std::swap(next, activation);
    const bool alone = next == Activation::none && !added.defined() && fused.empty();
    y = alone ? module(y) : module(y, next, added, fused);
  }
  return activate(y, activation);
}

}  // namespace dnn
