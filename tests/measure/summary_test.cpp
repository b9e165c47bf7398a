#include <catch2/catch.hpp>

#include <libdnn/core/allocator.h>
#include <libdnn/layers/layers.h>
#include <libdnn/measure/summary.h>
#include <libdnn/models/zoo.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/optim/sgd.h>

#include "../default_device.h"

namespace dnn {
namespace {

TEST_CASE("summarize: a small net by hand", "[measure]") {
  const test::DefaultDevice on("meta");
  Sequential net;
  net.add("conv", Conv2d(3, 8, 3));  // 6 x 6 x 8: 2 * 36 * 8 * 27 operations a picture
  net.add("relu", ReLU());
  net.add("flatten", Flatten());
  net.add("fc", Linear(288, 10));  // 2 * 288 * 10
  const Summary s = summarize(net, {2, 8, 8, 3});
  CHECK(s.parameters == 8 * 27 + 8 + 2880 + 10);
  CHECK(s.weights_bytes == 4 * s.parameters);
  CHECK(s.input_bytes == 4 * 2 * 8 * 8 * 3);
  CHECK(s.flops == 2 * (2 * 36 * 8 * 27 + 2 * 288 * 10));
  // Backward: both gradients of the dense layer, the weight's alone of the first.
  CHECK(s.training_flops == s.flops + 2 * (2 * 36 * 8 * 27 + 2 * 2 * 288 * 10));
  REQUIRE(s.layers.size() == 4);  // the net, the fused group, flatten, fc
  CHECK(s.layers[1].name == "conv+relu");
  CHECK(s.layers[1].type == "Conv2d+ReLU");
  CHECK(s.layers[1].output == Shape{2, 6, 6, 8});
  CHECK(s.layers[1].parameters == 8 * 27 + 8);
  CHECK(s.layers[1].output_bytes == 4 * 2 * 288);
  CHECK(s.layers[3].output == Shape{2, 10});
  CHECK(s.inference_peak_bytes > s.weights_bytes + s.input_bytes + 4 * 2 * 288);
  CHECK(s.training_peak_bytes > 3 * s.weights_bytes);
  CHECK(net.training());
}

TEST_CASE("summarize: a net whose forward throws has no hooks left", "[measure]") {
  const test::DefaultDevice on("meta");
  Sequential net(Conv2d(3, 8, 3), ReLU(), Flatten(), Linear(288, 10));
  CHECK_THROWS_AS(summarize(net, {2, 9, 9, 3}), Error);
  for (const NamedModule& m : net.named_modules()) CHECK(!m.module->has_hooks());
  net(Tensor({2, 8, 8, 3}));
  CHECK(summarize(net, {2, 8, 8, 3}).layers.size() == 4);
}

// The same step in real memory has the same peak.
TEST_CASE("summarize: the peak of a real step", "[measure]") {
  for (const char* name : {"lenet", "squeezenet1_1", "mobilenet_v3_small"}) {
    INFO(name);
    const ZooEntry& entry = zoo_entry(name);
    const Shape input{2, entry.height, entry.width, entry.channels};
    Summary expected;
    {
      const test::DefaultDevice on("meta");
      expected = summarize(*entry.make(10), input);
    }
    const test::DefaultDevice on("cpu");
    const Device cpu("cpu");
    const int64_t before = cpu.allocator().stats().allocated_bytes;
    const std::shared_ptr<Module> net = entry.make(10);
    const Tensor x = rand(input), labels = from_vector<int32_t>({1, 2}, {2});
    SGD sgd(net->named_parameters(), {.lr = 0.01, .momentum = 0.9});
    int64_t peak = 0;
    for (int step = 0; step < 2; ++step) {
      sgd.zero_grad();
      cpu.allocator().reset_peak();
      const Tensor loss = cross_entropy((*net)(x), labels);
      loss.backward();
      sgd.step();
      peak = cpu.allocator().stats().peak_bytes - before;
    }
    CHECK(std::abs(static_cast<double>(peak) / static_cast<double>(expected.training_peak_bytes) - 1) < 0.05);
    net->eval();
    sgd.zero_grad();
  }
}

TEST_CASE("summarize: FLOPs beyond 64 bits", "[measure]") {
  const test::DefaultDevice on("meta");
  const ZooEntry& entry = zoo_entry("vgg16");
  const std::shared_ptr<Module> net = entry.make(1000);
  const double one = summarize(*net, {1, 224, 224, 3}).flops;
  CHECK(3e8 * one > 9.22e18);
  CHECK(summarize(*net, {300000000, 224, 224, 3}).flops == Approx(3e8 * one));
}

}  // namespace
}  // namespace dnn
