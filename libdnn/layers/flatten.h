#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/ops/flatten.h>

namespace dnn {

// (N, H, W, C) to (N, C * H * W), in the order C, H, W: then a Linear behind it has the weights of other libraries.
class Flatten : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override { return flatten(x); }
};

}  // namespace dnn
