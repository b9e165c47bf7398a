#include <libdnn/models/vgg.h>

#include <array>

#include <libdnn/layers/init.h>

namespace dnn {
namespace {

// How many convolutions of 3x3 come before each of the five poolings.
using Depths = std::array<int, 5>;
constexpr Depths kDepths11{1, 1, 2, 2, 2}, kDepths13{2, 2, 2, 2, 2}, kDepths16{2, 2, 3, 3, 3}, kDepths19{2, 2, 4, 4, 4};
constexpr std::array<int, 5> kChannels{64, 128, 256, 512, 512};

Sequential vgg(const Depths& depths, bool batch_norm, int classes) {
  Sequential features;
  int index = 0, in = 3;
  const auto add = [&](auto module) { features.add(std::to_string(index++), std::move(module)); };
  for (size_t stage = 0; stage < depths.size(); ++stage) {
    for (int i = 0; i < depths[stage]; ++i, in = kChannels[stage]) {
      add(Conv2d({.in_channels = in, .out_channels = kChannels[stage], .kernel_size = 3, .padding = 1}));
      if (batch_norm) add(BatchNorm2d(kChannels[stage]));
      add(ReLU());
    }
    add(MaxPool2d(2));
  }
  Sequential net;  // 224 x 224 x 3
  net.add("features", std::move(features));
  net.add("avgpool", AdaptiveAvgPool2d(7));
  net.add("flatten", Flatten());
  net.add("classifier", Sequential(Linear(25088, 4096), ReLU(), Dropout(0.5),  //
                                   Linear(4096, 4096), ReLU(), Dropout(0.5),   //
                                   Linear(4096, classes)));
  init::weights(net, init::kaiming_normal(init::Fan::out), init::normal(0.01));
  return net;
}

}  // namespace

Sequential vgg11(int classes) { return vgg(kDepths11, false, classes); }
Sequential vgg13(int classes) { return vgg(kDepths13, false, classes); }
Sequential vgg16(int classes) { return vgg(kDepths16, false, classes); }
Sequential vgg19(int classes) { return vgg(kDepths19, false, classes); }
Sequential vgg11_bn(int classes) { return vgg(kDepths11, true, classes); }
Sequential vgg13_bn(int classes) { return vgg(kDepths13, true, classes); }
Sequential vgg16_bn(int classes) { return vgg(kDepths16, true, classes); }
Sequential vgg19_bn(int classes) { return vgg(kDepths19, true, classes); }

}  // namespace dnn
