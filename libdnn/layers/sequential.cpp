#include <libdnn/layers/chain.h>
#include <libdnn/layers/sequential.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>

namespace dnn {

Tensor Sequential::forward_fused(const Tensor& x, Activation activation, const Tensor& residual) {
  std::vector<Module*> modules;
  modules.reserve(children().size());
  for (const Child& child : children()) modules.push_back(child.module.get());
  // A chain would add the residual before the activations at its end; here it comes after them.
  if (residual.defined() && !modules.empty() && modules.back()->as_activation()) {
    return activate(run_chain(modules, x, fusion()) + residual, activation);
  }
  return run_chain(modules, x, fusion(), residual, activation);
}

}  // namespace dnn
