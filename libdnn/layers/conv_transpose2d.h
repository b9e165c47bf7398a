#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/layers/sizes.h>
#include <libdnn/ops/conv_transpose2d.h>

namespace dnn {

// The adjoint of a convolution, which makes pictures larger: weight (C, R, S, K / groups), bias (K).
//   ConvTranspose2d({.in_channels = 64, .out_channels = 32, .kernel_size = 2, .stride = 2})
class ConvTranspose2d : public Module {
 public:
  struct Options {
    int in_channels = 0;
    int out_channels = 0;
    Size2 kernel_size = 1;
    Size2 stride = 1;
    Padding2 padding = 0;      // taken away from the result
    Size2 output_padding = 0;  // rows and columns more, below the stride or the dilation
    int groups = 1;
    bool bias = true;
    Size2 dilation = 1;
    Activation activation = Activation::none;
  };

  explicit ConvTranspose2d(const Options& options);

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Options& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace dnn
