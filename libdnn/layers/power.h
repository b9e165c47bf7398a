#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/ops/check.h>
#include <libdnn/ops/power.h>

namespace dnn {

// y = (shift + scale * x) ^ power, as Caffe's layer. Power({.power = 2}); Power({.scale = 1.0 / 255})
class Power : public Module {
 public:
  struct Options {
    double power = 1;
    double scale = 1;
    double shift = 0;
  };

  explicit Power(const Options& options) : options_(options) {
    check_finite("power", "power", options.power);
    check_finite("power", "scale", options.scale);
    check_finite("power", "shift", options.shift);
  }

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Options& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override { return power(x, options_.power, options_.scale, options_.shift); }

 private:
  Options options_;
};

}  // namespace dnn
