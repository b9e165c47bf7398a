#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/softmax.h>

namespace dnn {

class ReLU : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return std::make_shared<ReLU>(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return relu(x); }
};

class Sigmoid : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return std::make_shared<Sigmoid>(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return sigmoid(x); }
};

class Tanh : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return std::make_shared<Tanh>(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return tanh(x); }
};

// Over the last dimension. A net that is trained with cross_entropy has none: the loss takes logits.
class Softmax : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return std::make_shared<Softmax>(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return softmax(x); }
};

}  // namespace dnn
