#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include <libdnn/core/random.h>
#include <libdnn/layers/init.h>
#include <libdnn/layers/layers.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/upsample.h>
#include <libdnn/optim/schedule.h>
#include <libdnn/optim/sgd.h>

#include "../default_device.h"

// Every net of the zoo learns 16 random pictures by heart: 30 steps of SGD bring its loss below a third of its start.
// The rates leave room: with other seeds, and with it with other rounding, the small nets end at 0.14 of that third at
// most, SqueezeNets at 0.34.
namespace dnn {
namespace {

// How a net is trained, with a momentum of 0.9. Nets are made for as many classes as there are pictures: of 1000, most
// never occur, and pushing them down is most of what the loss falls by, whether a net looks at the pictures or not.
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
  int pictures = 16, steps = 30;
  // A bias that keeps the ReLU behind SqueezeNet's last convolution open: a class whose ReLU closes never returns.
  double last_bias = 0;
};

const std::vector<Training> kQuick{
    {"mnist_cnn", 28, 0.3},
    {"lenet", 28, 0.02},
    {"resnet20", 32, 0.05},
    {"resnet18", 32, 0.05},
    {"mobilenet_v2", 64, 0.05},
    {"mobilenet_v3_small", 64, 0.05},
    {"mobilenet_v3_large", 64, 0.05},
    {.net = "squeezenet1_0",
     .side = 64,
     .lr = 0.001,
     .squares = 2,
     .kaiming = true,
     .pictures = 4,
     .steps = 80,
     .last_bias = 10},
    {.net = "squeezenet1_1",
     .side = 64,
     .lr = 0.001,
     .squares = 2,
     .kaiming = true,
     .pictures = 4,
     .steps = 80,
     .last_bias = 10},
};

const std::vector<Training> kLarge{
    {"resnet34", 64, 0.05},
    {"resnet50", 64, 0.02},
    {"resnet101", 64, 0.02},
    {"resnet152", 64, 0.02},
    {"googlenet", 64, 0.05},
    {"inception_v3", 299, 0.02},  // its auxiliary head takes no less
    {.net = "caffe_googlenet", .side = 224, .lr = 0.001, .squares = 2},
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

void start(Module& net, const Training& training) {
  if (training.kaiming) init::weights(net, init::kaiming_normal(), init::kaiming_normal());
  for (const NamedModule& m : net.named_modules()) {
    if (training.squares > 0 && dynamic_cast<Dropout*>(m.module)) m.module->eval();
  }
  for (const NamedTensor& p : net.named_parameters()) {
    if (training.last_bias == 0 || p.name.find("classifier") == std::string::npos) continue;
    (p.name.ends_with("bias") ? init::constant(training.last_bias) : init::normal(0.05))(p.tensor);
  }
}

Tensor random_pictures(const Training& training, int channels) {
  const int squares = training.squares > 0 ? training.squares : training.side;
  const Tensor x = randn({training.pictures, squares, squares, channels});
  return squares == training.side ? x : upsample_nearest(x, {training.side, training.side});
}

// Catch2's -s shows the losses.
void check_trains(const Training& training) {
  const test::DefaultDevice on("cpu");
  manual_seed(1);
  const ZooEntry& entry = zoo_entry(training.net);
  const std::shared_ptr<Module> net = entry.make(training.pictures);
  start(*net, training);
  SGD sgd(net->named_parameters(), {.lr = training.lr, .momentum = 0.9});
  const Tensor x = random_pictures(training, entry.channels);
  std::vector<int32_t> classes;  // each picture is a class of its own
  for (int i = 0; i < training.pictures; ++i) classes.push_back(i);
  const Tensor labels = from_vector(classes, {training.pictures});

  double first = 0;
  for (int step = 0;; ++step) {
    const HeadLosses losses = head_losses(*net, x, labels);
    const double value = losses.losses[0].item();
    if (step == 0) first = value;
    INFO("step " << step << ": loss from " << first << " to " << value);
    if (!std::isfinite(value)) FAIL();
    if (step == training.steps) {
      // log(classes) is what a net reaches that doesn't look at the pictures: a bad start is no help.
      CHECK(value < std::min(first, std::log(double(training.pictures))) / 3);
      return;
    }
    sgd.zero_grad();
    losses.total.backward();
    // Without norms the rate falls to 0, as SqueezeNet's authors have it.
    if (training.squares > 0) sgd.set_lr(linear_lr(training.lr, training.steps)(step));
    sgd.step();
  }
}

// Seconds; under the sanitizers minutes.
TEST_CASE("trains: small nets learn 16 pictures by heart", "[trains][large]") {
  for (const Training& training : kQuick) {
    DYNAMIC_SECTION(training.net) { check_trains(training); }
  }
}

// Minutes for all: asked for by name, or one of them with -c NAME beside it.
TEST_CASE("trains: large nets learn 16 pictures by heart", "[.trains][large]") {
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
