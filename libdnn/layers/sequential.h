#pragma once
#include <libdnn/layers/module.h>

namespace dnn {

// Modules one after the other, named as they are added or "0", "1", ... by their place:
//   Sequential net(Conv2d(1, 20, 5), ReLU(), Flatten(), Linear(11520, 10));
//   Sequential net;
//   net.add("conv", Conv2d(1, 20, 5));
class Sequential : public Module {
 public:
  Sequential() = default;
  template <std::derived_from<Module>... M>
  requires(sizeof...(M) > 0 &&
           !(sizeof...(M) == 1 && (std::derived_from<M, Sequential> && ...))) explicit Sequential(M... modules) {
    int index = 0;
    (add(std::to_string(index++), std::move(modules)), ...);
  }

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  using Module::add;
  bool fuses() const override { return true; }

 protected:
  Tensor forward(const Tensor& x) override { return forward_fused(x, Activation::none, Tensor()); }
  Tensor forward_fused(const Tensor& x, Activation activation, const Tensor& residual) override;
};

}  // namespace dnn
