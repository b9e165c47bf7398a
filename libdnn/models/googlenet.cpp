#include <libdnn/models/googlenet.h>

#include <libdnn/layers/init.h>
#include <libdnn/models/basic_conv.h>
#include <libdnn/ops/concat.h>

namespace dnn {
namespace {

// Channels: of the 1x1 branch, of the second branch's reduction and of its 3x3,
// of the third's, of the pooling branch.
struct Widths {
  int one, reduce2, three, reduce3, five, pool;
  int out() const { return one + three + five + pool; }
};

Concat inception(int in, const Widths& w) {
  Concat block;
  block.add("branch1", basic_conv(in, w.one, 1));
  block.add("branch2", Sequential(basic_conv(in, w.reduce2, 1), basic_conv(w.reduce2, w.three, 3, {.padding = 1})));
  block.add("branch3", Sequential(basic_conv(in, w.reduce3, 1), basic_conv(w.reduce3, w.five, 3, {.padding = 1})));
  block.add("branch4", Sequential(MaxPool2d({.kernel_size = 3, .stride = 1, .padding = 1, .ceil_mode = true}),
                                  basic_conv(in, w.pool, 1)));
  return block;
}

Sequential auxiliary(int in, int classes) {
  Sequential head;
  head.add("pool", AdaptiveAvgPool2d(4));
  head.add("conv", basic_conv(in, 128, 1));
  head.add("flatten", Flatten());
  head.add("fc1", Linear(2048, 1024));
  head.add("relu", ReLU());
  head.add("dropout", Dropout(0.7));
  head.add("fc2", Linear(1024, classes));
  return head;
}

MaxPool2d pool(int kernel_size) { return MaxPool2d({.kernel_size = kernel_size, .stride = 2, .ceil_mode = true}); }

}  // namespace

GoogLeNet::GoogLeNet(const GoogLeNetOptions& options) : options_(options) {
  add("transform_input", options.transform_input ? std::shared_ptr<Module>(std::make_shared<TransformInput>())
                                                 : std::make_shared<Identity>());
  add("conv1", basic_conv(3, 64, 7, {.stride = 2, .padding = 3}));
  add("maxpool1", pool(3));
  add("conv2", basic_conv(64, 64, 1));
  add("conv3", basic_conv(64, 192, 3, {.padding = 1}));
  add("maxpool2", pool(3));  // 28 x 28 x 192
  add("inception3a", inception(192, {64, 96, 128, 16, 32, 32}));
  add("inception3b", inception(256, {128, 128, 192, 32, 96, 64}));
  add("maxpool3", pool(3));  // 14 x 14 x 480
  add("inception4a", inception(480, {192, 96, 208, 16, 48, 64}));
  add("inception4b", inception(512, {160, 112, 224, 24, 64, 64}));
  add("inception4c", inception(512, {128, 128, 256, 24, 64, 64}));
  add("inception4d", inception(512, {112, 144, 288, 32, 64, 64}));
  add("inception4e", inception(528, {256, 160, 320, 32, 128, 128}));
  add("maxpool4", pool(2));  // 7 x 7 x 832
  add("inception5a", inception(832, {256, 160, 320, 32, 128, 128}));
  add("inception5b", inception(832, {384, 192, 384, 48, 128, 128}));
  if (options.aux_heads) {
    add("aux1", auxiliary(512, options.classes));
    add("aux2", auxiliary(528, options.classes));
  }
  add("avgpool", AdaptiveAvgPool2d(1));
  add("flatten", Flatten());
  add("dropout", Dropout(0.2));
  add("fc", Linear(1024, options.classes));
  init::weights(*this, init::truncated_normal(0.01), init::truncated_normal(0.01));
}

Tensor GoogLeNet::run(const Tensor& x, TensorList* aux) const {
  Tensor y = chain(x, {"transform_input", "conv1", "maxpool1", "conv2", "conv3", "maxpool2", "inception3a",
                       "inception3b", "maxpool3", "inception4a"});
  if (aux) aux->push_back(child("aux1")(y));
  y = chain(y, {"inception4b", "inception4c", "inception4d"});
  if (aux) aux->push_back(child("aux2")(y));
  return chain(y, {"inception4e", "maxpool4", "inception5a", "inception5b", "avgpool", "flatten", "dropout", "fc"});
}

TensorList GoogLeNet::forward_heads(const Tensor& x) {
  if (!options_.aux_heads) return {run(x, nullptr)};
  TensorList aux;
  const Tensor y = run(x, &aux);
  return {y, aux[1], aux[0]};
}

std::vector<double> GoogLeNet::head_weights() const {
  return options_.aux_heads ? std::vector<double>{1, 0.3, 0.3} : std::vector<double>{1};
}

GoogLeNet googlenet(int classes) { return GoogLeNet({.classes = classes}); }

CaffeGoogLeNet::CaffeGoogLeNet(int classes) {
  add_conv("conv1/7x7_s2", 3, 64, 7, 2);
  add_conv("conv2/3x3_reduce", 64, 64, 1);
  add_conv("conv2/3x3", 64, 192, 3);
  int in = 192;
  const auto add_inception = [&](const std::string& name, const Widths& w) {
    const std::string at = "inception_" + name + "/";
    add_conv(at + "1x1", in, w.one, 1);
    add_conv(at + "3x3_reduce", in, w.reduce2, 1);
    add_conv(at + "3x3", w.reduce2, w.three, 3);
    add_conv(at + "5x5_reduce", in, w.reduce3, 1);
    add_conv(at + "5x5", w.reduce3, w.five, 5);
    add_conv(at + "pool_proj", in, w.pool, 1);
    in = w.out();
  };
  add_inception("3a", {64, 96, 128, 16, 32, 32});
  add_inception("3b", {128, 128, 192, 32, 96, 64});
  add_inception("4a", {192, 96, 208, 16, 48, 64});
  add_inception("4b", {160, 112, 224, 24, 64, 64});
  add_inception("4c", {128, 128, 256, 24, 64, 64});
  add_inception("4d", {112, 144, 288, 32, 64, 64});
  add_inception("4e", {256, 160, 320, 32, 128, 128});
  add_inception("5a", {256, 160, 320, 32, 128, 128});
  add_inception("5b", {384, 192, 384, 48, 128, 128});
  for (const auto& [name, channels] : {std::pair{"loss1", 512}, std::pair{"loss2", 528}}) {
    add_conv(name + std::string("/conv"), channels, 128, 1);
    add(name + std::string("/fc"), Linear(2048, 1024));
    add(name + std::string("/classifier"), Linear(1024, classes));
  }
  add("loss3/classifier", Linear(1024, classes));
  add("relu", ReLU());
  add("norm", LocalResponseNorm({.size = 5, .alpha = 1e-4, .beta = 0.75}));
  add("pool", pool(3));
  add("inception_pool", MaxPool2d({.kernel_size = 3, .stride = 1, .padding = 1}));
  add("head_pool", AvgPool2d({.kernel_size = 5, .stride = 3, .ceil_mode = true}));
  add("last_pool", AvgPool2d(7, 1));
  add("flatten", Flatten());
  add("head_dropout", Dropout(0.7));
  add("last_dropout", Dropout(0.4));
  // Caffe's "xavier" filler is uniform with variance 1 / fan_in; the biases before ReLUs are 0.2.
  init::weights(*this, init::kaiming_uniform(init::Fan::in, 1), init::kaiming_uniform(init::Fan::in, 1));
  for (const NamedTensor& p : named_parameters()) {
    if (p.name.ends_with("bias") && p.name.find("classifier") == std::string::npos) init::constant(0.2)(p.tensor);
  }
}

void CaffeGoogLeNet::add_conv(const std::string& name, int in, int out, int kernel_size, int stride) {
  add(name, Conv2d({.in_channels = in,
                    .out_channels = out,
                    .kernel_size = kernel_size,
                    .stride = stride,
                    .padding = kernel_size / 2}));
}

Tensor CaffeGoogLeNet::inception(const std::string& name, const Tensor& x) const {
  const std::string at = "inception_" + name + "/";
  return concat({chain(x, {at + "1x1", "relu"}), chain(x, {at + "3x3_reduce", "relu", at + "3x3", "relu"}),
                 chain(x, {at + "5x5_reduce", "relu", at + "5x5", "relu"}),
                 chain(x, {"inception_pool", at + "pool_proj", "relu"})},
                -1);
}

Tensor CaffeGoogLeNet::head(const std::string& name, const Tensor& x) const {
  return chain(
      x, {"head_pool", name + "/conv", "relu", "flatten", name + "/fc", "relu", "head_dropout", name + "/classifier"});
}

Tensor CaffeGoogLeNet::run(const Tensor& x, TensorList* aux) const {
  Tensor y = chain(x, {"conv1/7x7_s2", "relu", "pool", "norm"});                    // 56 x 56 x 64
  y = chain(y, {"conv2/3x3_reduce", "relu", "conv2/3x3", "relu", "norm", "pool"});  // 28 x 28 x 192
  y = inception("4a", child("pool")(inception("3b", inception("3a", y))));          // 14 x 14 x 512
  if (aux) aux->push_back(head("loss1", y));
  y = inception("4d", inception("4c", inception("4b", y)));
  if (aux) aux->push_back(head("loss2", y));
  y = inception("5b", inception("5a", child("pool")(inception("4e", y))));  // 7 x 7 x 1024
  return chain(y, {"last_pool", "flatten", "last_dropout", "loss3/classifier"});
}

TensorList CaffeGoogLeNet::forward_heads(const Tensor& x) {
  TensorList aux;
  const Tensor y = run(x, &aux);
  return {y, aux[1], aux[0]};
}

CaffeGoogLeNet caffe_googlenet(int classes) { return CaffeGoogLeNet(classes); }

}  // namespace dnn
