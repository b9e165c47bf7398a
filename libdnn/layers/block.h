#pragma once
#include <initializer_list>

#include <libdnn/layers/module.h>

namespace dnn {

// A module that is written as chains of its children:
//   y = chain(x, {"conv1", "bn1", "relu"});
//   return chain(y, {"conv2", "bn2", "relu"}, shortcut);   // relu(bn2(conv2(y)) + shortcut)
// Convolution, norm, residual and activation run fused unless set_fusion(false) was called.
class Block : public Module {
 protected:
  Tensor chain(const Tensor& x, std::initializer_list<std::string_view> names, const Tensor& residual = Tensor()) const;
};

// Branches side by side on one input; their results are joined along the channels.
//   Concat block;
//   block.add("left", Conv2d(64, 32, 1));
//   block.add("right", Sequential(Conv2d(64, 16, 1), ReLU()));
class Concat : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  using Module::add;

 protected:
  Tensor forward(const Tensor& x) override;
};

// x + module(x), the module's name "body".
class Residual : public Module {
 public:
  template <std::derived_from<Module> M>
  explicit Residual(M body) {
    add("body", std::move(body));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace dnn
