#include <catch2/catch.hpp>

#include <set>

#include <libdnn/models/zoo.h>

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
    CHECK(entry.preprocessing.grey == (entry.channels == 1));
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

}  // namespace
}  // namespace dnn
