#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/softmax.h>

namespace dnn {

// What the modules that only apply a function without parameters have in common; the functions are those of
// ops/activation.h.
template <class Self, Activation kActivation>
class ActivationModule : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return std::make_shared<Self>(static_cast<const Self&>(*this)); }
  std::optional<Activation> as_activation() const override { return kActivation; }

 protected:
  Tensor forward(const Tensor& x) override { return activate(x, kActivation); }
};

class Identity : public ActivationModule<Identity, Activation::none> {};
class ReLU : public ActivationModule<ReLU, Activation::relu> {};
class Sigmoid : public ActivationModule<Sigmoid, Activation::sigmoid> {};
class Tanh : public ActivationModule<Tanh, Activation::tanh> {};
class ReLU6 : public ActivationModule<ReLU6, Activation::relu6> {};
class Hardsigmoid : public ActivationModule<Hardsigmoid, Activation::hardsigmoid> {};
class Hardswish : public ActivationModule<Hardswish, Activation::hardswish> {};
class SiLU : public ActivationModule<SiLU, Activation::silu> {};
class GELU : public ActivationModule<GELU, Activation::gelu> {};

class LeakyReLU : public Module {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {
    check_alpha(Activation::leaky_relu, negative_slope);
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return leaky_relu(x, negative_slope_); }

 private:
  double negative_slope_;
};

class ELU : public Module {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) { check_alpha(Activation::elu, alpha); }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return elu(x, alpha_); }

 private:
  double alpha_;
};

class Softplus : public Module {
 public:
  explicit Softplus(double beta = 1) : beta_(beta) { check_alpha(Activation::softplus, beta); }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return softplus(x, beta_); }

 private:
  double beta_;
};

// Along one dimension. A net that is trained with cross_entropy has none: the loss takes logits.
class Softmax : public Module {
 public:
  explicit Softmax(int dim = -1) : dim_(dim) {}
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return softmax(x, dim_); }

 private:
  int dim_;
};

}  // namespace dnn
