#pragma once
#include <libdnn/layers/module.h>

namespace dnn {

// In training each element is 0 with probability p, else x / (1 - p); in eval() mode x itself.
class Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5);

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  double p() const { return p_; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  double p_;
};

}  // namespace dnn
