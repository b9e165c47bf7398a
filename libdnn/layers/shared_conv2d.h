#pragma once
#include <kernels/epilogue.h>
#include <libdnn/layers/module.h>
#include <libdnn/layers/sizes.h>

namespace dnn {

// One filter, weight (1, R, S, 1), and one bias (1) for every channel: a pooling that learns, the "subsample" layer of
// LeNet-5's kind. SharedConv2d({.kernel_size = 4, .stride = 4})
class SharedConv2d : public Module {
 public:
  struct Options {
    Size2 kernel_size = 1;
    Size2 stride = 1;
    Padding2 padding = 0;
    Size2 dilation = 1;
    bool bias = true;
    Activation activation = Activation::none;
  };

  explicit SharedConv2d(const Options& options);

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Options& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace dnn
