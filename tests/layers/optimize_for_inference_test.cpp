#include <catch2/catch.hpp>

#include <algorithm>

#include <libdnn/autograd/tape.h>
#include <libdnn/formats/weights.h>
#include <libdnn/layers/layers.h>
#include <libdnn/layers/optimize_for_inference.h>
#include <libdnn/ops/arithmetic.h>

#include "layers_test.h"

namespace dnn {
namespace {

int norms(Module& net) {
  int count = 0;
  for (const NamedModule& entry : net.named_modules()) count += entry.module->type_name() == "BatchNorm2d";
  return count;
}

TEST_CASE("optimize_for_inference folds a norm into its convolution, by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net;
  net.add("conv", Conv2d({.in_channels = 1, .out_channels = 1, .bias = false}));
  net.add("bn", BatchNorm2d({.num_features = 1, .eps = 0}));
  net.add("relu", ReLU());
  test::set(net.child("conv"), "weight", {3});
  test::set(net.child("bn"), "weight", {2});
  test::set(net.child("bn"), "bias", {1});
  const Module& bn = net.child("bn");
  bn.buffer("running_mean").copy_from(tensor({5}, {1}));
  bn.buffer("running_var").copy_from(tensor({4}, {1}));
  const Tensor x = tensor({-1, 4}, {1, 1, 2, 1});
  const std::shared_ptr<Module> frozen = optimize_for_inference(net, x);
  CHECK(!frozen->training());
  CHECK(norms(*frozen) == 0);
  // w' = 3 * 2 / sqrt(4), b' = (0 - 5) * 1 + 1
  CHECK(frozen->child("conv")(x).to_vector<float>() == std::vector<float>{-7, 8});
  CHECK((*frozen)(x).to_vector<float>() == std::vector<float>{0, 8});
  CHECK(norms(net) == 1);  // the net itself stays
  CHECK(net.training());
  frozen->set_fusion(false);
  CHECK((*frozen)(x).to_vector<float>() == std::vector<float>{0, 8});
}

// What is used in more than one way keeps its norm.
struct Shared : Block {
  Shared() {
    add("conv", Conv2d(2, 2, 1));
    add("bn1", BatchNorm2d(2));
    add("bn2", BatchNorm2d(2));
    add("conv3", Conv2d(2, 2, 1));
    add("bn3", BatchNorm2d(2));
    add("first", BatchNorm2d(2));
  }
  std::shared_ptr<Module> clone() const override { return std::make_shared<Shared>(*this); }
  Tensor forward(const Tensor& x) override {
    const Tensor y = chain(x, {"first"});  // behind no convolution
    const Tensor two = chain(y, {"conv", "bn1"}) + chain(y, {"conv", "bn2"});
    return chain(two, {"conv3", "bn3"}) + child("conv3")(two);
  }
};

TEST_CASE("optimize_for_inference leaves what has other uses alone", "[layers]") {
  const test::DefaultDevice on("reference");
  Shared net;
  for (const NamedTensor& b : net.named_buffers()) {
    if (b.name.find("running") != std::string::npos) b.tensor.copy_from(rand({2}, 0.5, 1.5));
  }
  net.eval();
  const Tensor x = rand({1, 3, 3, 2}, -1, 1);
  const std::shared_ptr<Module> frozen = optimize_for_inference(net, x);
  CHECK(norms(*frozen) == 4);
  CHECK((*frozen)(x).to_vector<float>() == net(x).to_vector<float>());
}

TEST_CASE("optimize_for_inference: grouped, strided and biased convolutions on every row's device", "[layers]") {
  const test::DefaultDevice on("cpu");
  Sequential net(Conv2d({.in_channels = 8, .out_channels = 8, .kernel_size = 3, .stride = 2, .groups = 8}),
                 BatchNorm2d({.num_features = 8, .affine = false}), Hardswish(),
                 Conv2d({.in_channels = 8, .out_channels = 12, .groups = 2}), BatchNorm2d(12));
  for (const NamedTensor& b : net.named_buffers()) {
    if (b.name.find("running") != std::string::npos) b.tensor.copy_from(rand(b.tensor.shape(), 0.5, 1.5));
  }
  net.eval();
  const Tensor x = rand({2, 7, 7, 8}, -1, 1);
  const std::vector<float> expected = net(x).to_vector<float>();
  const std::shared_ptr<Module> frozen = optimize_for_inference(net, x);
  CHECK(norms(*frozen) == 0);
  const std::vector<float> y = (*frozen)(x).to_vector<float>();
  for (size_t i = 0; i < y.size(); ++i) CHECK(std::abs(y[i] - expected[i]) < 1e-5);
}

TEST_CASE("optimize_for_inference packs weights, for pictures of any number and size", "[layers]") {
  for (const char* device : {"reference", "cpu"}) {
    const test::DefaultDevice on(device);
    Sequential net(Conv2d({.in_channels = 32, .out_channels = 40, .kernel_size = 3, .padding = 1}), ReLU(),
                   Conv2d({.in_channels = 40, .out_channels = 40, .kernel_size = 3, .groups = 40, .bias = false}),
                   Conv2d({.in_channels = 40, .out_channels = 6, .kernel_size = 1, .stride = 2}), Sigmoid(),
                   AdaptiveAvgPool2d(2), Flatten(), Linear(24, 10, Activation::relu), Linear(10, 3));
    net.eval();
    const std::shared_ptr<Module> frozen = optimize_for_inference(net, rand({2, 16, 16, 32}, -1, 1));
    for (const NamedModule& entry : frozen->named_modules()) {
      CHECK(entry.module->type_name() != "Conv2d");
      CHECK(entry.module->type_name() != "Linear");
    }
    CHECK(frozen->parameters().empty());
    for (const Shape& shape : {Shape{2, 16, 16, 32}, Shape{1, 5, 9, 32}, Shape{9, 24, 20, 32}, Shape{0, 8, 8, 32}}) {
      const Tensor x = rand(shape, -1, 1);
      const Tensor expected = net(x), y = (*frozen)(x);
      CHECK(y.shape() == expected.shape());
      CHECK(!y.requires_grad());
      CHECK(test::largest_difference(y, expected) < 1e-5);
    }
    const std::shared_ptr<Module> copy = frozen->clone();
    const Tensor x = rand({1, 16, 16, 32}, -1, 1);
    CHECK((*copy)(x).to_vector<float>() == (*frozen)(x).to_vector<float>());
  }
}

TEST_CASE("optimize_for_inference of a single layer", "[layers]") {
  const NoGrad no_grad;
  const Tensor x = ones({1, 1, 1, 2});
  Conv2d conv(2, 1, 1);
  conv.parameter("weight").copy_from(full({1, 1, 1, 2}, 3));
  conv.parameter("bias").copy_from(full({1}, 1));
  CHECK((*optimize_for_inference(conv, x))(x).item() == 7);
  Linear linear(2, 1);
  linear.parameter("weight").copy_from(full({1, 2}, 2));
  linear.parameter("bias").copy_from(full({1}, 5));
  CHECK((*optimize_for_inference(linear, ones({1, 2})))(ones({1, 2})).item() == 9);
  CHECK((*optimize_for_inference(ReLU(), -x))(-x).to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("a frozen net: no gradient, no other device, no file", "[layers]") {
  const test::DefaultDevice on("cpu");
  const std::shared_ptr<Module> frozen = optimize_for_inference(Sequential(Conv2d(2, 3, 3)), rand({1, 4, 4, 2}));
  Tensor x = rand({1, 4, 4, 2});
  x.requires_grad(true);
  CHECK_THROWS_WITH((*frozen)(x), Catch::Matchers::Contains("packed weight") && Catch::Matchers::Contains("0"));
  CHECK_THROWS_WITH((*frozen)(rand({1, 4, 4, 2}).to("reference")),
                    Catch::Matchers::Contains("reference") && Catch::Matchers::Contains("cpu"));
  CHECK_THROWS_WITH((*frozen)(rand({1, 4, 4, 3})), Catch::Matchers::Contains("(3, 3, 3, 2)"));
  CHECK_THROWS_WITH(frozen->to("reference"), Catch::Matchers::Contains("[to] PackedConv2d '0' is frozen for cpu, not"));
  CHECK_NOTHROW(frozen->to("cpu"));
  CHECK_THROWS_WITH(save_weights(*frozen, "never.safetensors"), Catch::Matchers::Contains("PackedConv2d '0'"));
  CHECK_THROWS_WITH(load_weights(*frozen, "never.safetensors"), Catch::Matchers::Contains("PackedConv2d '0'"));
}

TEST_CASE("a frozen net: a layer has one name in all messages, its path", "[layers]") {
  const test::DefaultDevice on("cpu");
  const Sequential net(ReLU(), Sequential(ReLU(), Conv2d(2, 3, 3)));
  const std::shared_ptr<Module> frozen = optimize_for_inference(net, rand({1, 4, 4, 2}));
  CHECK_THROWS_WITH((*frozen)(rand({1, 4, 4, 3})), Catch::Matchers::Contains("(in 1.1)"));
  CHECK_THROWS_WITH(frozen->to("reference"), Catch::Matchers::Contains("PackedConv2d '1.1'"));
  CHECK_THROWS_WITH(save_weights(*frozen, "never.safetensors"), Catch::Matchers::Contains("PackedConv2d '1.1'"));
}

// A module of one's own that is a Conv2d only by its parts.
struct Doubled : Conv2d {
  Doubled() : Conv2d(1, 1, 1) {}
  std::shared_ptr<Module> clone() const override { return std::make_shared<Doubled>(*this); }
  Tensor forward(const Tensor& x) override { return Conv2d::forward(x) * 2; }
};

TEST_CASE("optimize_for_inference refuses a net that its clone() cuts down to its base", "[layers]") {
  struct Base : Module {
    Tensor forward(const Tensor& x) override { return x; }
    std::shared_ptr<Module> clone() const override { return std::make_shared<Base>(*this); }
  };
  struct Net : Base {
    Tensor forward(const Tensor& x) override { return x * 2.0; }
  };
  CHECK_THROWS_WITH(optimize_for_inference(Net(), zeros({1})),
                    Catch::Matchers::Contains("Net must override clone(); got a Base"));
}

TEST_CASE("optimize_for_inference leaves classes derived from Conv2d alone", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net;
  net.add("own", Doubled());
  net.eval();
  const Tensor x = rand({1, 2, 2, 1});
  CHECK((*optimize_for_inference(net, x))(x).to_vector<float>() == net(x).to_vector<float>());
}

TEST_CASE("optimize_for_inference leaves classes derived from BatchNorm2d alone", "[layers]") {
  struct DoubledNorm : BatchNorm2d {
    DoubledNorm() : BatchNorm2d(1) {}
    std::shared_ptr<Module> clone() const override { return clone_of(*this); }
    Tensor forward(const Tensor& x) override { return BatchNorm2d::forward(x) * 2; }
    bool fuses() const override { return false; }
  };
  const test::DefaultDevice on("reference");
  Sequential net(Conv2d(1, 1, 1), DoubledNorm());
  net.child("0").parameter("weight").copy_from(full({1, 1, 1, 1}, 2));
  net.child("0").parameter("bias").copy_from(full({1}, 1));
  net.eval();
  const Tensor y = (*optimize_for_inference(net, ones({1, 1, 1, 1})))(ones({1, 1, 1, 1}));
  CHECK(y.item() == Approx(6).epsilon(1e-4));  // (2 * 1 + 1) / sqrt(1 + eps), twice
}

TEST_CASE("replace: a module below, wherever it is held", "[layers]") {
  const test::DefaultDevice on("reference");
  const auto shared = std::make_shared<ReLU>();
  Sequential net;
  net.add("a", std::shared_ptr<Module>(shared));
  net.add("b", Sequential());
  net.add("c", std::shared_ptr<Module>(shared));
  net.replace(*shared, std::make_shared<Tanh>());
  CHECK(net.child("a").type_name() == "Tanh");
  CHECK(&net.child("a") == &net.child("c"));
  CHECK_THROWS_WITH(net.replace(*shared, std::make_shared<Tanh>()), Catch::Matchers::Contains("[replace]"));
}

}  // namespace
}  // namespace dnn
