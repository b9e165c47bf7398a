#include <catch2/catch.hpp>

#include <thread>

#include <libdnn/autograd/tape.h>
#include <libdnn/core/random.h>
#include <libdnn/layers/layers.h>
#include <tests/kernels/rows.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::Names;

TEST_CASE("Sequential: names, forward, errors, copies", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net(Linear(2, 3), ReLU(), Linear(3, 1));
  CHECK(test::names_and_shapes(net) == Names{"0.weight(3, 2)", "0.bias(3)", "2.weight(1, 3)", "2.bias(1)"});
  Sequential named;
  named.add("inner", net);
  named.add("last", Linear({.in_features = 1, .out_features = 2, .bias = false}));
  CHECK(test::names_and_shapes(named).back() == "last.weight(2, 1)");
  CHECK(test::names_and_shapes(named).front() == "inner.0.weight(3, 2)");
  const Tensor x = tensor({1, 2}, {1, 2});
  CHECK(named.child("inner")(x).to_vector<float>() == net(x).to_vector<float>());
  CHECK(named(x).shape() == Shape{1, 2});
  CHECK_THROWS_WITH(named(tensor({1, 2, 3}, {1, 3})), Contains("[linear]") && Contains("(in inner.0)"));

  const std::shared_ptr<Module> copy = named.clone();
  CHECK((*copy)(x).to_vector<float>() == named(x).to_vector<float>());
  test::set(copy->child("inner").child("0"), "bias", {100, 100, 100});
  CHECK((*copy)(x).to_vector<float>() != named(x).to_vector<float>());
}

TEST_CASE("Sequential: gradients reach every parameter", "[layers]") {
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

TEST_CASE("Sequential: two threads may use one net", "[layers]") {
  for (const Backend* row : test::rows_with(&Kernels<float>::conv2d_forward)) {
    INFO(row->name);
    const test::DefaultDevice on(row->name);
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
}

}  // namespace
}  // namespace dnn
