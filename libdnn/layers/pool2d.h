#pragma once
#include <optional>

#include <libdnn/layers/module.h>
#include <libdnn/layers/sizes.h>
#include <libdnn/ops/pool2d.h>

namespace dnn {

// The largest value of each window. MaxPool2d(3, 2); MaxPool2d({.kernel_size = 3, .stride = 2, .ceil_mode = true})
class MaxPool2d : public Module {
 public:
  struct Options {
    Size2 kernel_size = 1;
    std::optional<Size2> stride = {};  // of the kernel's size unless given
    Padding2 padding = 0;
    Size2 dilation = 1;
    bool ceil_mode = false;  // round the output size up, as Caffe does
  };

  explicit MaxPool2d(const Options& options);
  explicit MaxPool2d(int kernel_size) : MaxPool2d(Options{.kernel_size = kernel_size}) {}
  MaxPool2d(int kernel_size, int stride) : MaxPool2d(Options{.kernel_size = kernel_size, .stride = stride}) {}

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Pool2dOptions& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override { return max_pool2d(x, options_); }

 private:
  Pool2dOptions options_;
};

// The mean of each window.
class AvgPool2d : public Module {
 public:
  struct Options {
    Size2 kernel_size = 1;
    std::optional<Size2> stride = {};
    Padding2 padding = 0;
    bool ceil_mode = false;
    bool count_include_pad = true;  // cells in the padding count
  };

  explicit AvgPool2d(const Options& options);
  explicit AvgPool2d(int kernel_size) : AvgPool2d(Options{.kernel_size = kernel_size}) {}
  AvgPool2d(int kernel_size, int stride) : AvgPool2d(Options{.kernel_size = kernel_size, .stride = stride}) {}

  std::shared_ptr<Module> clone() const override { return clone_of(*this); }
  const Pool2dOptions& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x) override { return avg_pool2d(x, options_); }

 private:
  Pool2dOptions options_;
};

}  // namespace dnn
