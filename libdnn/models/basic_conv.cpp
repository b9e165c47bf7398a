#include <libdnn/models/basic_conv.h>

#include <libdnn/ops/arithmetic.h>

namespace dnn {

Sequential basic_conv(int in, int out, Size2 kernel_size, const BasicConvOptions& options) {
  Sequential block;
  block.add("conv", Conv2d({.in_channels = in,
                            .out_channels = out,
                            .kernel_size = kernel_size,
                            .stride = options.stride,
                            .padding = options.padding,
                            .bias = false}));
  block.add("bn", BatchNorm2d({.num_features = out, .eps = 1e-3}));
  block.add("relu", ReLU());
  return block;
}

Tensor TransformInput::forward(const Tensor& x) {
  constexpr double kMean[] = {0.485, 0.456, 0.406}, kStd[] = {0.229, 0.224, 0.225};
  std::vector<float> scale, shift;
  for (int c = 0; c < 3; ++c) {
    scale.push_back(static_cast<float>(kStd[c] / 0.5));
    shift.push_back(static_cast<float>((kMean[c] - 0.5) / 0.5));
  }
  return x * tensor(scale, {3}, x.device()) + tensor(shift, {3}, x.device());
}

}  // namespace dnn
