#include <libdnn/models/alexnet.h>

#include <set>

#include <libdnn/layers/init.h>

namespace dnn {
namespace {

LocalResponseNorm caffe_norm() { return LocalResponseNorm({.size = 5, .alpha = 1e-4, .beta = 0.75}); }
MaxPool2d caffe_pool() { return MaxPool2d({.kernel_size = 3, .stride = 2, .ceil_mode = true}); }

Conv2d conv(int in_channels, int out_channels, int kernel_size, int padding, int groups = 1, int stride = 1) {
  return Conv2d({.in_channels = in_channels,
                 .out_channels = out_channels,
                 .kernel_size = kernel_size,
                 .stride = stride,
                 .padding = padding,
                 .groups = groups});
}

// The biases of 1 give the ReLUs positive inputs, so that the first layers learn from the first step.
void init_as_paper(Module& net, const std::set<std::string>& layers_of_positive_bias) {
  init::weights(net, init::normal(0.01), init::normal(0.01));
  for (const NamedModule& m : net.named_modules()) {
    if (layers_of_positive_bias.count(m.name) > 0) init::constant(1)(m.module->parameter("bias"));
  }
}

}  // namespace

Sequential alexnet(int classes) {
  Sequential net;                                                                    // 224 x 224 x 3
  net.add("features", Sequential(conv(3, 64, 11, 2, 1, 4), ReLU(), MaxPool2d(3, 2),  // 27 x 27 x 64
                                 conv(64, 192, 5, 2), ReLU(), MaxPool2d(3, 2),       // 13 x 13 x 192
                                 conv(192, 384, 3, 1), ReLU(),                       //
                                 conv(384, 256, 3, 1), ReLU(),                       //
                                 conv(256, 256, 3, 1), ReLU(), MaxPool2d(3, 2)));    // 6 x 6 x 256
  net.add("avgpool", AdaptiveAvgPool2d(6));
  net.add("flatten", Flatten());
  net.add("classifier", Sequential(Dropout(0.5), Linear(9216, 4096), ReLU(),  //
                                   Dropout(0.5), Linear(4096, 4096), ReLU(),  //
                                   Linear(4096, classes)));
  // PyTorch's default shrinks the signal at every layer, until the gradients no longer move the weights. The paper's
  // start is for pixels of 0 to 255: those here have been divided by 255 and by a deviation of about 0.226.
  init_as_paper(net, {"features.3", "features.8", "features.10", "classifier.1", "classifier.4"});
  init::normal(0.01 * 255 * 0.226)(net.child("features").child("0").parameter("weight"));
  return net;
}

Sequential caffe_alexnet(int classes) {
  Sequential net;  // 227 x 227 x 3
  net.add("conv1", conv(3, 96, 11, 0, 1, 4));
  net.add("relu1", ReLU());
  net.add("norm1", caffe_norm());
  net.add("pool1", caffe_pool());  // 27 x 27 x 96
  net.add("conv2", conv(96, 256, 5, 2, 2));
  net.add("relu2", ReLU());
  net.add("norm2", caffe_norm());
  net.add("pool2", caffe_pool());  // 13 x 13 x 256
  net.add("conv3", conv(256, 384, 3, 1));
  net.add("relu3", ReLU());
  net.add("conv4", conv(384, 384, 3, 1, 2));
  net.add("relu4", ReLU());
  net.add("conv5", conv(384, 256, 3, 1, 2));
  net.add("relu5", ReLU());
  net.add("pool5", caffe_pool());  // 6 x 6 x 256
  net.add("flatten", Flatten());
  net.add("fc6", Linear(9216, 4096));
  net.add("relu6", ReLU());
  net.add("drop6", Dropout(0.5));
  net.add("fc7", Linear(4096, 4096));
  net.add("relu7", ReLU());
  net.add("drop7", Dropout(0.5));
  net.add("fc8", Linear(4096, classes));
  init_as_paper(net, {"conv2", "conv4", "conv5", "fc6", "fc7"});
  return net;
}

}  // namespace dnn
