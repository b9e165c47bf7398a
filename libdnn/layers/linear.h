#pragma once
#include <kernels/epilogue.h>
#include <libdnn/layers/module.h>

namespace dnn {

// A dense layer: weight (out, in), bias (out), and what follows it at once. Linear(800, 500, Activation::relu)
class Linear : public Module {
 public:
  struct Options {
    int in_features = 0;
    int out_features = 0;
    bool bias = true;
    Activation activation = Activation::none;
  };

  explicit Linear(const Options& options);
  Linear(int in_features, int out_features, Activation activation = Activation::none);

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Options& options() const { return options_; }
  bool fuses() const override { return options_.activation == Activation::none; }

 protected:
  Tensor forward(const Tensor& x) override { return forward_fused(x, options_.activation, Tensor()); }
  Tensor forward_fused(const Tensor& x, Activation activation, const Tensor& residual) override;

 private:
  Options options_;
};

}  // namespace dnn
