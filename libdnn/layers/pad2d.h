#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/layers/sizes.h>
#include <libdnn/ops/pad2d.h>

namespace dnn {

// Borders of zeros; a negative border takes pixels away. ZeroPad2d(1); ZeroPad2d({top, left, bottom, right})
class ZeroPad2d : public Module {
 public:
  explicit ZeroPad2d(Padding2 padding) : padding_(padding) {}

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Padding2& padding() const { return padding_; }

 protected:
  Tensor forward(const Tensor& x) override { return pad2d(x, padding_); }

 private:
  Padding2 padding_;
};

}  // namespace dnn
