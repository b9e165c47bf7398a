#pragma once
#include <libdnn/layers/module.h>

namespace dnn {

// y = x > 0 ? x : weight * x, with one learned weight for all channels or, where num_parameters says so, for each.
class PReLU : public Module {
 public:
  struct Options {
    int num_parameters = 1;
    double init = 0.25;
  };

  explicit PReLU(const Options& options);
  explicit PReLU(int num_parameters = 1) : PReLU(Options{.num_parameters = num_parameters}) {}

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Options& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace dnn
