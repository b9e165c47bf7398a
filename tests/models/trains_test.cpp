#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include <libdnn/core/random.h>
#include <libdnn/layers/init.h>
#include <libdnn/layers/layers.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/ops/upsample.h>
#include <libdnn/optim/schedule.h>
#include <libdnn/optim/sgd.h>

#include "../default_device.h"

// Every net of the zoo learns 16 random pictures by heart: 30 steps of SGD bring its loss below a third of its start.
namespace dnn {
namespace {

// How a net is trained, with a momentum of 0.9. All are made for 16 classes: of 1000, 984 never occur, and pushing them
// down is most of what the loss falls by in 30 steps, whether a net looks at the pictures or not.
struct Training {
  const char* net;
  int side;  // of the pictures: small, where the net takes such, to save time
  double lr;
  // For deep nets without norms: pictures of so many squares a side instead of noise, and no dropout. All pictures look
  // alike to their last layers; the cosine between SqueezeNet's features of two is 0.996 for noise, 0.989 for squares.
  int squares = 0;
  // PyTorch's own start shrinks the signal of such a net at every layer, as 0.01 does in VGG's dense layers: the loss
  // of torchvision's AlexNet, too, stays at log(16) for 30 steps, until the rate is so high that it ends in infinity.
  bool kaiming = false;
  // The last layer's rate, where the layers before it would not stand it. It starts small, and SqueezeNet's with a bias
  // that keeps the ReLU behind it open. Both rates fall to 0, as SqueezeNet's authors have it.
  double last_lr = 0;
};

const std::vector<Training> kQuick{
    {"mnist_cnn", 28, 0.3},
    {"lenet", 28, 0.02},
    {"resnet20", 32, 0.05},
    {"resnet18", 32, 0.05},
    {"mobilenet_v2", 64, 0.05},
    {"mobilenet_v3_small", 64, 0.05},
    {"mobilenet_v3_large", 64, 0.05},
    {.net = "squeezenet1_0", .side = 64, .lr = 0.0015, .squares = 4, .last_lr = 0.03},
    {.net = "squeezenet1_1", .side = 64, .lr = 0.0015, .squares = 4, .last_lr = 0.04},
};

const std::vector<Training> kLarge{
    {"resnet34", 64, 0.05},
    {"resnet50", 64, 0.02},
    {"resnet101", 64, 0.02},
    {"resnet152", 64, 0.02},
    {"googlenet", 64, 0.05},
    {"inception_v3", 299, 0.02},  // its auxiliary head takes no less
    {.net = "caffe_googlenet", .side = 224, .lr = 0.0015, .squares = 2, .last_lr = 0.012},
    {.net = "alexnet", .side = 64, .lr = 0.0003, .squares = 4, .kaiming = true},
    {.net = "caffe_alexnet", .side = 227, .lr = 0.0005, .squares = 4},
    {.net = "vgg11", .side = 32, .lr = 0.0005, .squares = 4, .kaiming = true},
    {.net = "vgg13", .side = 32, .lr = 0.0005, .squares = 4, .kaiming = true},
    {.net = "vgg16", .side = 32, .lr = 0.0005, .squares = 4, .kaiming = true},
    {.net = "vgg19", .side = 32, .lr = 0.0005, .squares = 4, .kaiming = true},
    // Less than others with norms: their dense layers have none.
    {"vgg11_bn", 32, 0.001},
    {"vgg13_bn", 32, 0.001},
    {"vgg16_bn", 32, 0.001},
    {"vgg19_bn", 32, 0.001},
};

constexpr int kPictures = 16, kSteps = 30;

// Catch2's -s shows the losses.
void check_trains(const Training& training) {
  const test::DefaultDevice on("cpu");
  manual_seed(1);
  const ZooEntry& entry = zoo_entry(training.net);
  const std::shared_ptr<Module> net = entry.make(kPictures);
  if (training.kaiming) init::weights(*net, init::kaiming_normal(), init::kaiming_normal());
  for (const NamedModule& m : net->named_modules()) {
    if (training.squares > 0 && dynamic_cast<Dropout*>(m.module)) m.module->eval();
  }
  NamedTensors last, others;
  for (const NamedTensor& p : net->named_parameters()) {
    const bool is_last = training.last_lr > 0 && p.name.find("classifier") != std::string::npos;
    (is_last ? last : others).push_back(p);
    if (is_last) (p.name.ends_with("bias") ? init::constant(10) : init::normal(0.01))(p.tensor);
  }
  std::vector<std::pair<SGD, double>> groups{{SGD(others, {.momentum = 0.9}), training.lr}};
  if (!last.empty()) groups.emplace_back(SGD(last, {.momentum = 0.9}), training.last_lr);

  Tensor x = randn({kPictures, training.side, training.side, entry.channels});
  if (training.squares > 0) {
    x = upsample_nearest(randn({kPictures, training.squares, training.squares, entry.channels}),
                         {training.side, training.side});
  }
  std::vector<int32_t> classes;  // each picture is a class of its own
  for (int i = 0; i < kPictures; ++i) classes.push_back(i);
  const Tensor labels = from_vector(classes, {kPictures});

  double first = 0;
  for (int step = 0;; ++step) {
    const TensorList heads = net->heads(x);
    Tensor loss = cross_entropy(heads[0], labels);
    const double value = loss.item();
    if (step == 0) first = value;
    INFO("step " << step << ": loss from " << first << " to " << value);
    if (!std::isfinite(value)) FAIL();
    if (step == kSteps) {
      // log(16) is what a net reaches that doesn't look at the pictures: a bad start is no help.
      CHECK(value < std::min(first, std::log(double{kPictures})) / 3);
      return;
    }
    for (size_t i = 1; i < heads.size(); ++i) {
      loss = loss + cross_entropy(heads[i], labels) * net->head_weights()[i];
    }
    for (auto& group : groups) group.first.zero_grad();
    loss.backward();
    for (auto& [sgd, lr] : groups) {
      sgd.set_lr(last.empty() ? lr : linear_lr(lr, kSteps)(step));
      sgd.step();
    }
  }
}

// Seconds; under the sanitizers minutes.
TEST_CASE("trains: small nets learn 16 pictures by heart in 30 steps", "[trains][large]") {
  for (const Training& training : kQuick) {
    DYNAMIC_SECTION(training.net) { check_trains(training); }
  }
}

// Minutes for all: asked for by name, or one of them with -c NAME beside it.
TEST_CASE("trains: large nets learn 16 pictures by heart in 30 steps", "[.trains][large]") {
  for (const Training& training : kLarge) {
    DYNAMIC_SECTION(training.net) { check_trains(training); }
  }
}

TEST_CASE("trains: every net of the zoo is among them", "[trains]") {
  std::multiset<std::string> tried, all;
  for (const Training& training : kQuick) tried.insert(training.net);
  for (const Training& training : kLarge) tried.insert(training.net);
  for (const ZooEntry& entry : zoo()) all.insert(entry.name);
  CHECK(tried == all);
}

}  // namespace
}  // namespace dnn
