#pragma once
#include <vector>

#include <libdnn/layers/module.h>

namespace dnn {

// activation(modules one after the other + residual); where the last modules are activations, the residual is added
// before those. With `fusion` a module that fuses() does this for what follows it, in its own pass.
Tensor run_chain(const std::vector<Module*>& modules, const Tensor& x, bool fusion, const Tensor& residual = Tensor(),
                 Activation activation = Activation::none);

// Looks on as chains run in this thread, until it ends: f(a, b) for every two neighbours.
class ChainObserver {
 public:
  using Function = std::function<void(Module& first, Module& second)>;
  explicit ChainObserver(Function f);
  ~ChainObserver();
  ChainObserver(const ChainObserver&) = delete;
  ChainObserver& operator=(const ChainObserver&) = delete;

 private:
  Function f_;
  const Function* outer_;
};

}  // namespace dnn
