#include <catch2/catch.hpp>

#include <cmath>
#include <thread>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/random.h>
#include <libdnn/layers/layers.h>

#include "../default_device.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

Names names_and_shapes(const Module& module) {
  Names result;
  for (const NamedTensor& p : module.named_parameters()) result.push_back(p.name + p.tensor.shape().str());
  return result;
}

void set(const Module& module, const std::string& name, const std::vector<float>& values) {
  const Tensor& parameter = module.parameter(name);
  parameter.copy_from(tensor(values, parameter.shape(), parameter.device()));
}

TEST_CASE("layers: parameters, their shapes and order", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK(names_and_shapes(Conv2d(3, 20, 5)) == Names{"weight(20, 5, 5, 3)", "bias(20)"});
  CHECK(names_and_shapes(
            Conv2d({.in_channels = 6, .out_channels = 4, .kernel_size = {3, 2}, .groups = 2, .bias = false})) ==
        Names{"weight(4, 3, 2, 3)"});
  CHECK(names_and_shapes(SharedConv2d({.kernel_size = {4, 3}, .stride = 4})) == Names{"weight(1, 4, 3, 1)", "bias(1)"});
  CHECK(names_and_shapes(Linear(7, 5)) == Names{"weight(5, 7)", "bias(5)"});
  CHECK(names_and_shapes(Linear({.in_features = 7, .out_features = 5, .bias = false})) == Names{"weight(5, 7)"});
  CHECK(names_and_shapes(ReLU()).empty());
  CHECK(names_and_shapes(MaxPool2d(2)).empty());
}

TEST_CASE("layers: default initialisation is PyTorch's", "[layers]") {
  const test::DefaultDevice on("reference");
  manual_seed(1);
  const Conv2d conv({.in_channels = 8, .out_channels = 64, .kernel_size = {3, 5}, .groups = 2});  // fan_in 4 * 3 * 5
  const Linear linear(60, 512);
  for (const Module* layer : {static_cast<const Module*>(&conv), static_cast<const Module*>(&linear)}) {
    for (const Tensor& parameter : layer->parameters()) {
      const double bound = 1 / std::sqrt(60.0);
      double largest = 0, sum = 0;
      for (const float value : parameter.to_vector<float>()) {
        largest = std::max(largest, std::abs(double{value}));
        sum += value;
      }
      CHECK(largest <= bound);
      CHECK(largest > 0.9 * bound);
      CHECK(std::abs(sum / static_cast<double>(parameter.numel())) < 0.25 * bound);
    }
  }
  CHECK(conv.parameter("bias").to_vector<float>() != linear.parameter("bias").to_vector<float>());

  // Each parameter takes the next number of the program's stream, in the order of registration.
  manual_seed(7);
  const Linear first(3, 2);
  CHECK(random_state().call == 2);
  manual_seed(7);
  const Tensor weight = rand({2, 3}, -1 / std::sqrt(3.0), 1 / std::sqrt(3.0));
  CHECK(first.parameter("weight").to_vector<float>() == weight.to_vector<float>());
}

TEST_CASE("layers: a convolution by hand, with its options", "[layers]") {
  const test::DefaultDevice on("reference");
  Conv2d conv({.in_channels = 1,
               .out_channels = 1,
               .kernel_size = {1, 2},
               .stride = {2, 1},
               .padding = {0, 0, 0, 1},
               .activation = Activation::relu});
  set(conv, "weight", {1, -2});
  set(conv, "bias", {0.5});
  // rows 0 and 2 of the picture: x - 2 * right neighbour + .5, the right neighbour of the last is 0
  const Tensor y = conv(tensor({4, 1, 9, 9, 1, 3}, {1, 3, 2, 1}));
  CHECK(y.shape() == Shape{1, 2, 2, 1});
  CHECK(y.to_vector<float>() == std::vector<float>{2.5, 1.5, 0, 3.5});
}

TEST_CASE("layers: shared convolution, pooling, dense, by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  SharedConv2d shared({.kernel_size = 2, .stride = 2});
  set(shared, "weight", {1, 2, 3, 4});
  set(shared, "bias", {1});
  const Tensor x = tensor({1, 5, 2, 6, 3, 7, 4, 8}, {1, 2, 2, 2});  // channels 1..4 and 5..8
  CHECK(shared(x).to_vector<float>() == std::vector<float>{31, 71});

  std::vector<float> count(16);
  for (size_t i = 0; i < 16; ++i) count[i] = static_cast<float>(i + 1);
  const Tensor picture = tensor(count, {1, 4, 4, 1});
  MaxPool2d max({.kernel_size = 3, .stride = 2, .ceil_mode = true});
  CHECK(max(picture).to_vector<float>() == std::vector<float>{11, 12, 15, 16});
  AvgPool2d avg({.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
  CHECK(avg(picture).to_vector<float>() == std::vector<float>{3.5, 5, 6, 9.5, 11, 12, 13.5, 15, 16});
  MaxPool2d halves(2);
  CHECK(halves(picture).to_vector<float>() == std::vector<float>{6, 8, 14, 16});
  AvgPool2d quarters(2, 2);
  CHECK(quarters(picture).to_vector<float>() == std::vector<float>{3.5, 5.5, 11.5, 13.5});

  Linear linear(2, 2, Activation::relu);
  set(linear, "weight", {1, 2, 3, -4});
  set(linear, "bias", {10, 0});
  CHECK(linear(tensor({1, 1}, {1, 2})).to_vector<float>() == std::vector<float>{13, 0});
}

TEST_CASE("layers: activations, flatten, softmax", "[layers]") {
  const test::DefaultDevice on("reference");
  ReLU relu;
  Sigmoid sigmoid;
  Tanh tanh;
  Softmax softmax;
  Flatten flatten;
  const Tensor x = tensor({-1, 0, 2}, {1, 3});
  CHECK(relu(x).to_vector<float>() == std::vector<float>{0, 0, 2});
  CHECK(sigmoid(x).to_vector<float>()[1] == 0.5f);
  CHECK(tanh(x).to_vector<float>()[2] == Approx(std::tanh(2.0)));
  CHECK(softmax(tensor({0, 0}, {1, 2})).to_vector<float>() == std::vector<float>{0.5, 0.5});
  CHECK(flatten(tensor({1, 5, 2, 6, 3, 7, 4, 8}, {1, 2, 2, 2})).to_vector<float>() ==
        std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("layers: dropout scales what it keeps, and does nothing in eval", "[layers]") {
  const test::DefaultDevice on("reference");
  Dropout dropout(0.4);
  const Tensor x = ones({100000});
  double sum = 0;
  for (const float value : dropout(x).to_vector<float>()) {
    REQUIRE((value == 0 || value == static_cast<float>(1 / (1 - 0.4))));
    sum += value;
  }
  CHECK(sum / 100000 == Approx(1).margin(0.01));
  dropout.eval();
  CHECK(dropout(x).impl() == x.impl());
  CHECK_THROWS_WITH(Dropout(1), Contains("got 1"));
  CHECK_THROWS_WITH(Dropout(-0.1), Contains("[dropout]"));
}

TEST_CASE("layers: sequential", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net(Linear(2, 3), ReLU(), Linear(3, 1));
  CHECK(names_and_shapes(net) == Names{"0.weight(3, 2)", "0.bias(3)", "2.weight(1, 3)", "2.bias(1)"});
  Sequential named;
  named.add("inner", net);
  named.add("last", Linear({.in_features = 1, .out_features = 2, .bias = false}));
  CHECK(names_and_shapes(named).back() == "last.weight(2, 1)");
  CHECK(names_and_shapes(named).front() == "inner.0.weight(3, 2)");
  const Tensor x = tensor({1, 2}, {1, 2});
  CHECK(named.child("inner")(x).to_vector<float>() == net(x).to_vector<float>());
  CHECK(named(x).shape() == Shape{1, 2});
  CHECK_THROWS_WITH(named(tensor({1, 2, 3}, {1, 3})), Contains("[linear]") && Contains("(in inner.0)"));

  const std::shared_ptr<Module> copy = named.clone();
  CHECK((*copy)(x).to_vector<float>() == named(x).to_vector<float>());
  set(copy->child("inner").child("0"), "bias", {100, 100, 100});
  CHECK((*copy)(x).to_vector<float>() != named(x).to_vector<float>());
}

TEST_CASE("layers: gradients reach every parameter", "[layers]") {
  const test::DefaultDevice on("reference");
  manual_seed(3);
  Sequential net;
  net.add("conv", Conv2d({.in_channels = 1, .out_channels = 2, .kernel_size = 3, .activation = Activation::sigmoid}));
  net.add("shared", SharedConv2d({.kernel_size = 2, .stride = 2}));
  net.add("pool", AvgPool2d(2));
  net.add("flatten", Flatten());
  net.add("fc", Linear(2, 1));
  net(rand({1, 6, 6, 1})).backward(ones({1, 1}));
  for (const NamedTensor& p : net.named_parameters()) {
    INFO(p.name);
    REQUIRE(p.tensor.grad().defined());
    double norm = 0;
    for (const float g : p.tensor.grad().to_vector<float>()) norm += g * g;
    CHECK(norm > 0);
  }
}

TEST_CASE("layers: what makes no sense is refused", "[layers]") {
  CHECK_THROWS_WITH(Conv2d(0, 20, 5), Contains("got 0 in, 20 out, 1 groups"));
  CHECK_THROWS_WITH(Conv2d({.in_channels = 3, .out_channels = 4, .groups = 2}), Contains("got 3 in, 4 out, 2 groups"));
  CHECK_THROWS_WITH(Linear(5, 0), Contains("got 5 in, 0 out"));
  CHECK_THROWS_WITH(Conv2d(1, 1, -1), Contains("-1"));
}

TEST_CASE("layers: two threads may use one net", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net;
  net.add("conv", Conv2d(1, 3, 3, Activation::relu));
  net.add("drop", Dropout(0.5));
  net.add("flatten", Flatten());
  net.add("fc", Linear(3 * 6 * 6, 4));
  net.eval();
  const Tensor inputs[] = {rand({2, 8, 8, 1}), rand({2, 8, 8, 1})};
  const std::vector<float> expected[] = {net(inputs[0]).to_vector<float>(), net(inputs[1]).to_vector<float>()};
  int wrong[2] = {0, 0};
  const auto work = [&](int i) {
    const NoGrad no_grad;
    for (int turn = 0; turn < 50; ++turn) wrong[i] += net(inputs[i]).to_vector<float>() != expected[i];
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  CHECK(wrong[0] == 0);
  CHECK(wrong[1] == 0);
}

}  // namespace
}  // namespace dnn
