#include <libdnn/layers/chain.h>

#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>

namespace dnn {
namespace {

thread_local const ChainObserver::Function* observer = nullptr;

}  // namespace

ChainObserver::ChainObserver(Function f) : f_(std::move(f)), outer_(observer) { observer = &f_; }
ChainObserver::~ChainObserver() { observer = outer_; }

Tensor run_chain(const std::vector<Module*>& modules, const Tensor& x, bool fusion, const Tensor& residual,
                 Activation activation) {
  const size_t count = modules.size();
  for (size_t i = 1; observer && i < count; ++i) (*observer)(*modules[i - 1], *modules[i]);
  size_t end = count;  // of what comes before the residual
  while (end > 0 && modules[end - 1]->as_activation()) --end;

  Tensor y = end == 0 && residual.defined() ? x + residual : x;
  for (size_t i = 0; i < count;) {
    Module& module = *modules[i++];
    const Tensor added = i == end ? residual : Tensor();
    if (!fusion || !module.fuses()) {
      y = module(y);
      if (added.defined()) y = y + added;
      continue;
    }
    Activation next = Activation::none;  // what stands for no activation, as a folded batch norm, is passed over
    while (i < count && next == Activation::none && modules[i]->as_activation()) next = *modules[i++]->as_activation();
    if (i == count && next == Activation::none) std::swap(next, activation);
    y = next == Activation::none && !added.defined() ? module(y) : module(y, next, added);
  }
  return activate(y, activation);
}

}  // namespace dnn
