#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/layers/sizes.h>
#include <libdnn/ops/conv2d.h>

namespace dnn {

// A convolution: weight (K, R, S, C / groups), bias (K), and what follows it at once.
//   Conv2d(1, 20, 5)
//   Conv2d({.in_channels = 3, .out_channels = 64, .kernel_size = 7, .stride = 2, .padding = 3})
class Conv2d : public Module {
 public:
  struct Options {
    int in_channels = 0;
    int out_channels = 0;
    Size2 kernel_size = 1;
    Size2 stride = 1;
    Padding2 padding = 0;
    Size2 dilation = 1;
    int groups = 1;
    bool bias = true;
    Activation activation = Activation::none;

    Conv2dOptions with(Activation a) const { return {stride, padding, dilation, groups, a}; }  // of the operation
  };

  explicit Conv2d(const Options& options);
  Conv2d(int in_channels, int out_channels, Size2 kernel_size, Activation activation = Activation::none);

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
