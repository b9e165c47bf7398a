#pragma once
#include <libdnn/layers/conv2d.h>
#include <libdnn/ops/packed_conv2d.h>

namespace dnn {

// A convolution for inference alone, on the device where it was made; see ops/packed_conv2d.h. Its weight is in no file
// and no list of parameters. optimize_for_inference makes it.
class PackedConv2d : public Module {
 public:
  PackedConv2d(const Conv2d& conv, const Shape& input);  // input (N, H, W, C): what it will see most

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Conv2d::Options& options() const { return options_; }
  bool fuses() const override { return options_.activation == Activation::none; }
  std::optional<Device> frozen_to() const override { return weight_.values.device(); }

 protected:
  Tensor forward(const Tensor& x) override { return forward_fused(x, options_.activation, Tensor()); }
  Tensor forward_fused(const Tensor& x, Activation activation, const Tensor& residual) override;

 private:
  Conv2d::Options options_;
  PackedConv2dWeight weight_;  // never written again: copies of the module share it
  Tensor bias_;
};

}  // namespace dnn
