#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/ops/batch_norm.h>

namespace dnn {

// Each channel brought to mean `bias` and standard deviation `weight`, and what follows it at once. In training the
// statistics are the batch's, in eval() mode the running_mean and running_var that training left; without
// track_running_stats there are none of these, and the batch's always serve. BatchNorm2d(64)
class BatchNorm2d : public Module {
 public:
  struct Options {
    int num_features = 0;
    double eps = 1e-5;
    double momentum = 0.1;  // of the batch in the running statistics
    bool affine = true;
    bool track_running_stats = true;
    Activation activation = Activation::none;
  };

  explicit BatchNorm2d(const Options& options);
  explicit BatchNorm2d(int num_features) : BatchNorm2d(Options{.num_features = num_features}) {}

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
