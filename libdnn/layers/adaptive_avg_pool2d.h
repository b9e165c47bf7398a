#pragma once
#include <libdnn/layers/module.h>
#include <libdnn/layers/sizes.h>
#include <libdnn/ops/adaptive_avg_pool2d.h>
#include <libdnn/ops/check.h>

namespace dnn {

// The mean of each of so many windows, whatever the picture's size. AdaptiveAvgPool2d(1) averages over all pixels.
class AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(Size2 output_size) : output_size_(output_size) {
    check_at_least("adaptive_avg_pool2d", "output_size", output_size, 1);
  }

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  Size2 output_size() const { return output_size_; }

 protected:
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, output_size_); }

 private:
  Size2 output_size_;
};

}  // namespace dnn
