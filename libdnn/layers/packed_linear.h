#pragma once
#include <libdnn/layers/linear.h>
#include <libdnn/ops/packed_linear.h>

namespace dnn {

// A dense layer for inference alone, on the device where it was made; see packed_conv2d.h.
class PackedLinear : public Module {
 public:
  explicit PackedLinear(const Linear& linear);

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Linear::Options& options() const { return options_; }
  bool fuses() const override { return options_.activation == Activation::none; }
  std::optional<Device> frozen_to() const override { return weight_.values.device(); }

 protected:
  Tensor forward(const Tensor& x) override { return forward_fused(x, options_.activation, Tensor()); }
  Tensor forward_fused(const Tensor& x, Activation activation, const Tensor& residual) override;

 private:
  Linear::Options options_;
  PackedLinearWeight weight_;  // never written again: copies of the module share it
  Tensor bias_;
};

}  // namespace dnn
