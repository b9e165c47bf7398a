#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/ops/activation.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/softmax.h>

namespace dnn {

// What the modules that only apply a function without parameters have in common; the functions are those of
// ops/activation.h.
template <class Self, UnaryOp kOp>
class ActivationModule : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return std::make_shared<Self>(static_cast<const Self&>(*this)); }
  std::optional<Activation> as_activation() const override { return Activation{{kOp}}; }

 protected:
  Tensor forward(const Tensor& x) override { return activate(x, Activation{{kOp}}); }
};

class Identity : public ActivationModule<Identity, UnaryOp::none> {};
class ReLU : public ActivationModule<ReLU, UnaryOp::relu> {};
class Sigmoid : public ActivationModule<Sigmoid, UnaryOp::sigmoid> {};
class Tanh : public ActivationModule<Tanh, UnaryOp::tanh> {};
class ReLU6 : public ActivationModule<ReLU6, UnaryOp::relu6> {};
class Hardsigmoid : public ActivationModule<Hardsigmoid, UnaryOp::hardsigmoid> {};
class Hardswish : public ActivationModule<Hardswish, UnaryOp::hardswish> {};
class SiLU : public ActivationModule<SiLU, UnaryOp::silu> {};
class Mish : public ActivationModule<Mish, UnaryOp::mish> {};

// GELU(GeluApproximate::tanh) for torch's GELU(approximate="tanh").
class GELU : public Module {
 public:
  explicit GELU(GeluApproximate approximate = GeluApproximate::none) : approximate_(approximate) {}
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  std::optional<Activation> as_activation() const override {
    return approximate_ == GeluApproximate::tanh ? Activation::gelu_tanh : Activation::gelu;
  }

 protected:
  Tensor forward(const Tensor& x) override { return gelu(x, approximate_); }

 private:
  GeluApproximate approximate_;
};

class LeakyReLU : public Module {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {
    check_alpha(UnaryOp::leaky_relu, negative_slope);
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return leaky_relu(x, negative_slope_); }

 private:
  double negative_slope_;
};

class ELU : public Module {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) { check_alpha(UnaryOp::elu, alpha); }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return elu(x, alpha_); }

 private:
  double alpha_;
};

class Softplus : public Module {
 public:
  explicit Softplus(double beta = 1) : beta_(beta) { check_alpha(UnaryOp::softplus, beta); }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return softplus(x, beta_); }

 private:
  double beta_;
};

class LogSigmoid : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return logsigmoid(x); }
};

class Hardtanh : public Module {
 public:
  explicit Hardtanh(double min = -1, double max = 1) : min_(min), max_(max) { check_hardtanh(min, max); }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return hardtanh(x, min_, max_); }

 private:
  double min_, max_;
};

// Over the last dimension. A net that is trained with cross_entropy has none: the loss takes logits.
class Softmax : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return softmax(x); }
};

}  // namespace dnn
