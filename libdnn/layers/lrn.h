#pragma once
#include <libdnn/layers/module.h>

namespace dnn {

// Local response normalisation, with torch's names: y = x * (k + alpha / size * sum of x^2) ^ -beta, summed over `size`
// neighbouring channels; or, within_channel, y = x * (k + alpha * mean of x^2) ^ -beta, the mean over size x size
// pixels, those beyond the picture counted as 0. LocalResponseNorm(5); LocalResponseNorm({.size = 5, .k = 2})
class LocalResponseNorm : public Module {
 public:
  struct Options {
    int size = 5;
    double alpha = 1e-4;
    double beta = 0.75;
    double k = 1;
    bool within_channel = false;  // Caffe's WITHIN_CHANNEL; its size is odd
  };

  explicit LocalResponseNorm(const Options& options);
  explicit LocalResponseNorm(int size, double alpha = 1e-4, double beta = 0.75, double k = 1)
      : LocalResponseNorm(Options{.size = size, .alpha = alpha, .beta = beta, .k = k}) {}

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Options& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace dnn
