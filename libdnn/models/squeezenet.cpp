#include <libdnn/models/squeezenet.h>

#include <libdnn/layers/init.h>
#include <libdnn/ops/concat.h>

namespace dnn {
namespace {

// 1x1 down to few channels, then 1x1 and 3x3 side by side.
class Fire : public Block {
 public:
  Fire(int in, int squeeze, int expand1x1, int expand3x3) {
    add("squeeze", Conv2d(in, squeeze, 1));
    add("squeeze_activation", ReLU());
    add("expand1x1", Conv2d(squeeze, expand1x1, 1));
    add("expand1x1_activation", ReLU());
    add("expand3x3", Conv2d({.in_channels = squeeze, .out_channels = expand3x3, .kernel_size = 3, .padding = 1}));
    add("expand3x3_activation", ReLU());
  }
  std::shared_ptr<Module> clone() const override { return clone_of(*this); }

 protected:
  Tensor forward(const Tensor& x) override {
    const Tensor y = chain(x, {"squeeze", "squeeze_activation"});
    return concat({chain(y, {"expand1x1", "expand1x1_activation"}), chain(y, {"expand3x3", "expand3x3_activation"})},
                  -1);
  }
};

MaxPool2d pool() { return MaxPool2d({.kernel_size = 3, .stride = 2, .ceil_mode = true}); }

Sequential squeezenet(Sequential features, int classes) {
  Sequential net;
  net.add("features", std::move(features));
  net.add("classifier", Sequential(Dropout(0.5), Conv2d(512, classes, 1), ReLU(), AdaptiveAvgPool2d(1)));
  net.add("flatten", Flatten());
  init::weights(net, init::kaiming_uniform(), init::kaiming_uniform());
  init::normal(0.01)(net.child("classifier").child("1").parameter("weight"));
  return net;
}

}  // namespace

Sequential squeezenet1_0(int classes) {
  return squeezenet(Sequential(Conv2d({.in_channels = 3, .out_channels = 96, .kernel_size = 7, .stride = 2}), ReLU(),
                               pool(), Fire(96, 16, 64, 64), Fire(128, 16, 64, 64), Fire(128, 32, 128, 128), pool(),
                               Fire(256, 32, 128, 128), Fire(256, 48, 192, 192), Fire(384, 48, 192, 192),
                               Fire(384, 64, 256, 256), pool(), Fire(512, 64, 256, 256)),
                    classes);
}

Sequential squeezenet1_1(int classes) {
  return squeezenet(
      Sequential(Conv2d({.in_channels = 3, .out_channels = 64, .kernel_size = 3, .stride = 2}), ReLU(), pool(),
                 Fire(64, 16, 64, 64), Fire(128, 16, 64, 64),
                 pool(),                                                    //
                 Fire(128, 32, 128, 128), Fire(256, 32, 128, 128), pool(),  //
                 Fire(256, 48, 192, 192), Fire(384, 48, 192, 192), Fire(384, 64, 256, 256), Fire(512, 64, 256, 256)),
      classes);
}

}  // namespace dnn
