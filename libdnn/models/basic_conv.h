#pragma once
#include <libdnn/layers/layers.h>

namespace dnn {

// What GoogLeNet and Inception are made of: a convolution without bias, a batch
// norm with eps 0.001, ReLU.
struct BasicConvOptions {
  Size2 stride = 1;
  Padding2 padding = 0;
};
Sequential basic_conv(int in, int out, Size2 kernel_size, const BasicConvOptions& options = {});

// (N, H, W, 3) as ImageNet's mean and standard deviation normalise it, to what
// mean and deviation 1/2 would have given: the pictures that the weights ported
// from TensorFlow were trained on.
class TransformInput : public Module {
 public:
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace dnn
