#include <catch2/catch.hpp>

#include <set>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/random.h>
#include <libdnn/layers/layers.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/optim/sgd.h>

#include "../default_device.h"

namespace dnn {
namespace {

TEST_CASE("zoo: every net takes its pictures, gives its classes and can be copied", "[models]") {
  const test::DefaultDevice on("meta");
  std::set<std::string> names;
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK(entry.preprocessing.crop_height == entry.height);
    CHECK(entry.preprocessing.crop_width == entry.width);
    const std::shared_ptr<Module> net = entry.make(7);
    const Tensor x({2, entry.height, entry.width, entry.channels});
    const TensorList heads = net->heads(x);
    CHECK(heads.size() == net->head_weights().size());
    for (const Tensor& head : heads) CHECK(head.shape() == Shape{2, 7});
    net->eval();
    CHECK(net->heads(x).size() == 1);
    const std::shared_ptr<Module> copy = net->clone();
    CHECK((*copy)(x).shape() == Shape{2, 7});
    CHECK(copy->named_tensors().size() == net->named_tensors().size());
  }
  CHECK_THROWS_WITH(zoo_entry("resnet19"),
                    Catch::Matchers::Contains("resnet18, resnet34") && Catch::Matchers::Contains("got 'resnet19'"));
}

TEST_CASE("zoo: parameter counts of the nets without golden files", "[models]") {
  const test::DefaultDevice on("meta");
  const auto count = [](const char* name) {
    const ZooEntry& entry = zoo_entry(name);
    int64_t parameters = 0;
    for (const Tensor& p : entry.make(entry.classes)->parameters()) parameters += p.numel();
    return parameters;
  };
  // As torchvision's documentation gives them; resnet20 as the paper does, 0.27 million.
  CHECK(count("vgg11") == 132863336);
  CHECK(count("vgg13") == 133047848);
  CHECK(count("vgg19") == 143667240);
  CHECK(count("vgg11_bn") == 132868840);
  CHECK(count("vgg13_bn") == 133053736);
  CHECK(count("vgg16_bn") == 138365992);
  CHECK(count("vgg19_bn") == 143678248);
  CHECK(count("squeezenet1_0") == 1248424);
  CHECK(count("resnet20") == 269722);
}

// Minutes for all: asked for by name, library_tests "trains: *".
TEST_CASE("trains: every net learns 16 pictures by heart in 30 steps", "[.trains]") {
  const test::DefaultDevice on("cpu");
  for (const ZooEntry& entry : zoo()) {
    DYNAMIC_SECTION(entry.name) {
      manual_seed(1);
      const std::shared_ptr<Module> net = entry.make(entry.classes);
      bool norms = false;
      for (const NamedModule& m : net->named_modules()) {
        if (dynamic_cast<Dropout*>(m.module)) m.module->eval();
        norms = norms || dynamic_cast<BatchNorm2d*>(m.module);
      }
      // Nets that end in an adaptive pooling take smaller pictures, at a quarter of the work.
      const bool any_size = net->type_name() != "CaffeGoogLeNet";
      const int side = any_size && entry.height >= 224 && entry.height != 227 ? 128 : entry.height;
      SGD sgd(net->named_parameters(), {.lr = norms ? 0.05 : 0.01, .momentum = 0.9});
      const Tensor x = randn({16, side, side, entry.channels});
      std::vector<int32_t> classes;
      for (int i = 0; i < 16; ++i) classes.push_back(i * 5 % 10);
      const Tensor labels = from_vector(classes, {16});
      std::vector<double> losses;
      for (int step = 0; step <= 30; ++step) {
        sgd.zero_grad();
        const TensorList heads = net->heads(x);
        Tensor loss = cross_entropy(heads[0], labels);
        losses.push_back(loss.item());
        if (step == 30) break;
        for (size_t i = 1; i < heads.size(); ++i) {
          loss = loss + cross_entropy(heads[i], labels) * net->head_weights()[i];
        }
        loss.backward();
        sgd.step();
      }
      WARN(entry.name << ": loss from " << losses.front() << " to " << losses.back());
      CHECK(losses.back() < losses.front() / 3);
    }
  }
}

}  // namespace
}  // namespace dnn
