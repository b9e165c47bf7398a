#include <libdnn/models/mobilenet.h>

#include <algorithm>

#include <libdnn/layers/chain.h>
#include <libdnn/layers/init.h>
#include <libdnn/ops/scale_channels.h>

namespace dnn {
namespace {

struct NormOptions {
  double eps = 1e-5, momentum = 0.1;
};
constexpr NormOptions kV2{}, kV3{.eps = 1e-3, .momentum = 0.01};

// Convolution and batch norm, and what `activation` names.
Sequential conv_norm(int in, int out, int kernel_size, int stride, int groups, Activation activation,
                     const NormOptions& norm) {
  Sequential block(Conv2d({.in_channels = in,
                           .out_channels = out,
                           .kernel_size = kernel_size,
                           .stride = stride,
                           .padding = (kernel_size - 1) / 2,
                           .groups = groups,
                           .bias = false}),
                   BatchNorm2d({.num_features = out, .eps = norm.eps, .momentum = norm.momentum}));
  if (activation == Activation::relu) block.add("2", ReLU());
  if (activation == Activation::relu6) block.add("2", ReLU6());
  if (activation == Activation::hardswish) block.add("2", Hardswish());
  return block;
}

// x + body(x) where the shape stays, else body(x); `name` is the body's.
class InvertedResidual : public Block {
 public:
  InvertedResidual(const char* name, Sequential body, bool residual) : residual_(residual) {
    add(name, std::move(body));
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    return run_chain({children().front().module.get()}, x, fusion(), residual_ ? x : Tensor());
  }

 private:
  bool residual_;
};

// "Squeeze-and-excitation networks" (Hu, Shen and Sun, CVPR 2018): each channel
// times a factor made of all means.
class SqueezeExcitation : public Block {
 public:
  SqueezeExcitation(int channels, int squeezed) {
    add("avgpool", AdaptiveAvgPool2d(1));
    add("fc1", Conv2d(channels, squeezed, 1));
    add("activation", ReLU());
    add("fc2", Conv2d(squeezed, channels, 1));
    add("scale_activation", Hardsigmoid());
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    return scale_channels(x, chain(x, {"avgpool", "fc1", "activation", "fc2", "scale_activation"}));
  }
};

InvertedResidual v2_block(int in, int out, int expansion, int stride) {
  const int wide = in * expansion;
  Sequential body;
  int index = 0;
  const auto add = [&](auto module) { body.add(std::to_string(index++), std::move(module)); };
  if (expansion != 1) add(conv_norm(in, wide, 1, 1, 1, Activation::relu6, kV2));
  add(conv_norm(wide, wide, 3, stride, wide, Activation::relu6, kV2));
  add(Conv2d({.in_channels = wide, .out_channels = out, .bias = false}));
  add(BatchNorm2d(out));
  return InvertedResidual("conv", std::move(body), stride == 1 && in == out);
}

struct V3Row {
  int kernel_size, wide, out;
  bool squeezes;
  Activation activation;
  int stride;
};

// The nearest multiple of 8 that is not smaller by more than a tenth.
int divisible_by_8(double value) {
  const int near = std::max(8, static_cast<int>(value + 4) / 8 * 8);
  return near < 0.9 * value ? near + 8 : near;
}

InvertedResidual v3_block(int in, const V3Row& row) {
  Sequential body;
  int index = 0;
  const auto add = [&](auto module) { body.add(std::to_string(index++), std::move(module)); };
  if (row.wide != in) add(conv_norm(in, row.wide, 1, 1, 1, row.activation, kV3));
  add(conv_norm(row.wide, row.wide, row.kernel_size, row.stride, row.wide, row.activation, kV3));
  if (row.squeezes) add(SqueezeExcitation(row.wide, divisible_by_8(row.wide / 4.0)));
  add(conv_norm(row.wide, row.out, 1, 1, 1, Activation::none, kV3));
  return InvertedResidual("block", std::move(body), row.stride == 1 && in == row.out);
}

void init_weights(Sequential& net) { init::weights(net, init::kaiming_normal(init::Fan::out), init::normal(0.01)); }

Sequential mobilenet_v3(const std::vector<V3Row>& rows, int last, int classes) {
  Sequential features;
  features.add("0", conv_norm(3, 16, 3, 2, 1, Activation::hardswish, kV3));
  int index = 1, in = 16;
  for (const V3Row& row : rows) {
    features.add(std::to_string(index++), v3_block(in, row));
    in = row.out;
  }
  features.add(std::to_string(index), conv_norm(in, 6 * in, 1, 1, 1, Activation::hardswish, kV3));
  Sequential net;  // 224 x 224 x 3
  net.add("features", std::move(features));
  net.add("avgpool", AdaptiveAvgPool2d(1));
  net.add("flatten", Flatten());
  net.add("classifier", Sequential(Linear(6 * in, last), Hardswish(), Dropout(0.2), Linear(last, classes)));
  init_weights(net);
  return net;
}

}  // namespace

Sequential mobilenet_v2(int classes) {
  struct Row {
    int expansion, out, count, stride;
  };
  Sequential features;
  features.add("0", conv_norm(3, 32, 3, 2, 1, Activation::relu6, kV2));
  int index = 1, in = 32;
  for (const Row& row : {Row{1, 16, 1, 1}, Row{6, 24, 2, 2}, Row{6, 32, 3, 2}, Row{6, 64, 4, 2}, Row{6, 96, 3, 1},
                         Row{6, 160, 3, 2}, Row{6, 320, 1, 1}}) {
    for (int i = 0; i < row.count; ++i, in = row.out) {
      features.add(std::to_string(index++), v2_block(in, row.out, row.expansion, i == 0 ? row.stride : 1));
    }
  }
  features.add(std::to_string(index), conv_norm(in, 1280, 1, 1, 1, Activation::relu6, kV2));
  Sequential net;  // 224 x 224 x 3
  net.add("features", std::move(features));
  net.add("avgpool", AdaptiveAvgPool2d(1));
  net.add("flatten", Flatten());
  net.add("classifier", Sequential(Dropout(0.2), Linear(1280, classes)));
  init_weights(net);
  return net;
}

Sequential mobilenet_v3_small(int classes) {
  const Activation relu = Activation::relu, hardswish = Activation::hardswish;
  return mobilenet_v3({{3, 16, 16, true, relu, 2},
                       {3, 72, 24, false, relu, 2},
                       {3, 88, 24, false, relu, 1},
                       {5, 96, 40, true, hardswish, 2},
                       {5, 240, 40, true, hardswish, 1},
                       {5, 240, 40, true, hardswish, 1},
                       {5, 120, 48, true, hardswish, 1},
                       {5, 144, 48, true, hardswish, 1},
                       {5, 288, 96, true, hardswish, 2},
                       {5, 576, 96, true, hardswish, 1},
                       {5, 576, 96, true, hardswish, 1}},
                      1024, classes);
}

Sequential mobilenet_v3_large(int classes) {
  const Activation relu = Activation::relu, hardswish = Activation::hardswish;
  return mobilenet_v3({{3, 16, 16, false, relu, 1},
                       {3, 64, 24, false, relu, 2},
                       {3, 72, 24, false, relu, 1},
                       {5, 72, 40, true, relu, 2},
                       {5, 120, 40, true, relu, 1},
                       {5, 120, 40, true, relu, 1},
                       {3, 240, 80, false, hardswish, 2},
                       {3, 200, 80, false, hardswish, 1},
                       {3, 184, 80, false, hardswish, 1},
                       {3, 184, 80, false, hardswish, 1},
                       {3, 480, 112, true, hardswish, 1},
                       {3, 672, 112, true, hardswish, 1},
                       {5, 672, 160, true, hardswish, 2},
                       {5, 960, 160, true, hardswish, 1},
                       {5, 960, 160, true, hardswish, 1}},
                      1280, classes);
}

}  // namespace dnn
