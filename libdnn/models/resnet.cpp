#include <libdnn/models/resnet.h>

#include <array>
#include <cmath>

#include <libdnn/layers/init.h>
#include <libdnn/ops/concat.h>

namespace dnn {
namespace {

Conv2d conv(int in, int out, int kernel_size, int stride = 1) {
  return Conv2d({.in_channels = in,
                 .out_channels = out,
                 .kernel_size = kernel_size,
                 .stride = stride,
                 .padding = kernel_size / 2,
                 .bias = false});
}

Sequential downsample(int in, int out, int stride) { return Sequential(conv(in, out, 1, stride), BatchNorm2d(out)); }

class BasicBlock : public Block {
 public:
  static constexpr int kExpansion = 1;
  BasicBlock(int in, int width, int stride) : reshapes_(stride != 1 || in != width) {
    add("conv1", conv(in, width, 3, stride));
    add("bn1", BatchNorm2d(width));
    add("relu", ReLU());
    add("conv2", conv(width, width, 3));
    add("bn2", BatchNorm2d(width));
    if (reshapes_) add("downsample", downsample(in, width, stride));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    const Tensor shortcut = reshapes_ ? child("downsample")(x) : x;
    const Tensor y = chain(x, {"conv1", "bn1", "relu"});
    return chain(y, {"conv2", "bn2", "relu"}, shortcut);
  }

 private:
  bool reshapes_;
};

class Bottleneck : public Block {
 public:
  static constexpr int kExpansion = 4;
  Bottleneck(int in, int width, int stride) : reshapes_(stride != 1 || in != width * kExpansion) {
    const int out = width * kExpansion;
    add("conv1", conv(in, width, 1));
    add("bn1", BatchNorm2d(width));
    add("conv2", conv(width, width, 3, stride));
    add("bn2", BatchNorm2d(width));
    add("conv3", conv(width, out, 1));
    add("bn3", BatchNorm2d(out));
    add("relu", ReLU());
    if (reshapes_) add("downsample", downsample(in, out, stride));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    const Tensor shortcut = reshapes_ ? child("downsample")(x) : x;
    const Tensor y = chain(x, {"conv1", "bn1", "relu", "conv2", "bn2", "relu"});
    return chain(y, {"conv3", "bn3", "relu"}, shortcut);
  }

 private:
  bool reshapes_;
};

template <class B>
Sequential resnet(const std::array<int, 4>& depths, int classes) {
  Sequential net;  // 224 x 224 x 3
  net.add("conv1",
          Conv2d({.in_channels = 3, .out_channels = 64, .kernel_size = 7, .stride = 2, .padding = 3, .bias = false}));
  net.add("bn1", BatchNorm2d(64));
  net.add("relu", ReLU());
  net.add("maxpool", MaxPool2d({.kernel_size = 3, .stride = 2, .padding = 1}));  // 56 x 56 x 64
  int in = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const int width = 64 << stage;
    Sequential layer;
    for (int i = 0; i < depths[static_cast<size_t>(stage)]; ++i, in = width * B::kExpansion) {
      layer.add(std::to_string(i), B(in, width, stage > 0 && i == 0 ? 2 : 1));
    }
    net.add("layer" + std::to_string(stage + 1), std::move(layer));
  }
  net.add("avgpool", AdaptiveAvgPool2d(1));
  net.add("flatten", Flatten());
  net.add("fc", Linear(in, classes));
  init::weights(net, init::kaiming_normal(init::Fan::out), init::uniform(-1 / std::sqrt(in), 1 / std::sqrt(in)));
  return net;
}

// Every second pixel, and as many channels of zeros before and behind.
class PaddedShortcut : public Module {
 public:
  explicit PaddedShortcut(int channels) : channels_(channels) {}
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    const Tensor y = max_pool2d(x, {.window = {1, 1}, .stride = {2, 2}});
    const Tensor blank = zeros({y.size(0), y.size(1), y.size(2), channels_}, y.dtype(), y.device());
    return concat({blank, y, blank}, -1);
  }

 private:
  int channels_;
};

class CifarBlock : public Block {
 public:
  CifarBlock(int in, int width, int stride) {
    add("conv1", conv(in, width, 3, stride));
    add("bn1", BatchNorm2d(width));
    add("relu", ReLU());
    add("conv2", conv(width, width, 3));
    add("bn2", BatchNorm2d(width));
    if (in == width) {
      add("shortcut", Identity());
    } else {
      add("shortcut", PaddedShortcut((width - in) / 2));
    }
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    const Tensor y = chain(x, {"conv1", "bn1", "relu"});
    return chain(y, {"conv2", "bn2", "relu"}, child("shortcut")(x));
  }
};

}  // namespace

Sequential resnet18(int classes) { return resnet<BasicBlock>({2, 2, 2, 2}, classes); }
Sequential resnet34(int classes) { return resnet<BasicBlock>({3, 4, 6, 3}, classes); }
Sequential resnet50(int classes) { return resnet<Bottleneck>({3, 4, 6, 3}, classes); }
Sequential resnet101(int classes) { return resnet<Bottleneck>({3, 4, 23, 3}, classes); }
Sequential resnet152(int classes) { return resnet<Bottleneck>({3, 8, 36, 3}, classes); }

Sequential resnet20(int classes) {
  Sequential net;  // 32 x 32 x 3
  net.add("conv1", conv(3, 16, 3));
  net.add("bn1", BatchNorm2d(16));
  net.add("relu", ReLU());
  int in = 16;
  for (int stage = 0; stage < 3; ++stage) {
    const int width = 16 << stage;
    Sequential layer;
    for (int i = 0; i < 3; ++i, in = width) {
      layer.add(std::to_string(i), CifarBlock(in, width, stage > 0 && i == 0 ? 2 : 1));
    }
    net.add("layer" + std::to_string(stage + 1), std::move(layer));
  }
  net.add("avgpool", AdaptiveAvgPool2d(1));
  net.add("flatten", Flatten());
  net.add("linear", Linear(64, classes));
  init::weights(net, init::kaiming_normal(), init::kaiming_normal());
  return net;
}

}  // namespace dnn
