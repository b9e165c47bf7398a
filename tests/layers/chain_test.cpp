#include <catch2/catch.hpp>

#include <map>

#include <libdnn/autograd/tape.h>
#include <libdnn/layers/chain.h>
#include <libdnn/layers/layers.h>
#include <libdnn/ops/reduce.h>
#include <tests/kernels/rows.h>

#include "layers_test.h"

namespace dnn {
namespace {

std::vector<float> run(const std::vector<Module*>& modules, bool fusion, const Tensor& x,
                       const Tensor& residual = Tensor(), Activation last = Activation::none) {
  return run_chain(modules, x, fusion, residual, last).to_vector<float>();
}

TEST_CASE("run_chain: the residual comes before the activations at the end, fused or not", "[layers]") {
  const test::DefaultDevice on("reference");
  Linear linear(2, 2);
  test::set(linear, "weight", {1, 0, 0, 1});
  test::set(linear, "bias", {0, 0});
  ReLU relu;
  Tanh tanh;
  Identity identity;
  Dropout dropout(0.0);
  const Tensor x = tensor({-3, 2}, {1, 2}), residual = tensor({1, -5}, {1, 2});
  for (const bool fusion : {false, true}) {
    INFO("fusion " << fusion);
    CHECK(run({&linear, &relu}, fusion, x) == std::vector<float>{0, 2});
    CHECK(run({&linear, &relu}, fusion, x, residual) == std::vector<float>{0, 0});
    CHECK(run({&linear, &identity, &relu}, fusion, x, tensor({4, -1}, {1, 2})) == std::vector<float>{1, 1});
    CHECK(run({&linear, &relu, &linear}, fusion, x, residual) == std::vector<float>{1, -3});
    CHECK(run({&linear, &relu, &dropout, &relu}, fusion, x, residual) == std::vector<float>{1, 0});
    CHECK(run({&relu}, fusion, x, residual) == std::vector<float>{0, 0});
    CHECK(run({}, fusion, x, residual) == std::vector<float>{-2, -3});
    CHECK(run({&linear}, fusion, x, residual, Activation::relu) == std::vector<float>{0, 0});
    CHECK(run({&linear, &relu}, fusion, x, Tensor(), Activation::tanh)[1] == Approx(std::tanh(2.0)));
    CHECK(run({&linear, &tanh, &relu}, fusion, x)[0] == 0);
  }
}

// The calls of a net as an observer sees them, by the modules' own names.
std::vector<std::string> observed(Module& net, const Tensor& x) {
  std::vector<std::string> calls;
  const ModuleObserver observer([&](const ModuleCall& c) { calls.push_back(c.module.name() + c.name_suffix()); },
                                nullptr);
  net(x);
  return calls;
}

TEST_CASE("run_chain: a fused group is one call, under the group's name", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net(Conv2d(1, 2, 1), Identity(), ReLU(), Sequential(Conv2d(2, 2, 1), Sigmoid()), Tanh());
  const Tensor x = rand({1, 3, 3, 1});
  CHECK(observed(net, x) == std::vector<std::string>{"", "0+1+2", "3+4", "0+1"});
  Sequential with_parameters(Conv2d(1, 2, 1), LeakyReLU(0.1), Conv2d(2, 2, 1), Hardtanh(-0.1, 0.1));
  CHECK(observed(with_parameters, x) == std::vector<std::string>{"", "0+1", "2+3"});
  const std::vector<float> fused = net(x).to_vector<float>();
  {
    Shape shape;
    std::vector<std::string> types;
    const ModuleObserver observer([&](const ModuleCall& c) { types.push_back(c.type()); },
                                  [&](const ModuleCall& c, const Tensor& y) {
                                    if (c.module.type_name() == "Conv2d") shape = y.shape();
                                  });
    net(x);
    CHECK(types == std::vector<std::string>{"Sequential", "Conv2d+Identity+ReLU", "Sequential+Tanh", "Conv2d+Sigmoid"});
    CHECK(shape == Shape{1, 3, 3, 2});
  }
  net.set_fusion(false);
  CHECK(!net.child("3").child("0").fusion());
  CHECK(observed(net, x) == std::vector<std::string>{"", "0", "1", "2", "3", "0", "1", "4"});
  const std::vector<float> unfused = net(x).to_vector<float>();
  for (size_t i = 0; i < fused.size(); ++i) CHECK(std::abs(unfused[i] - fused[i]) < 1e-6);
  CHECK(!net.clone()->fusion());
}

// Outputs that hooks see, by module.
TEST_CASE("run_chain: a hook sees what its module itself computes", "[layers]") {
  for (const Backend* row : test::rows_with(&Kernels<float>::conv2d_forward)) {
    INFO(row->name);
    const test::DefaultDevice on(row->name);
    Sequential net(Linear(2, 2), ReLU(), Sequential(Linear(2, 1), Sigmoid()), Tanh());
    test::set(net.child("0"), "weight", {1, 0, 0, 1});
    test::set(net.child("0"), "bias", {0, 0});
    test::set(net.child("2").child("0"), "weight", {2, 3});
    test::set(net.child("2").child("0"), "bias", {0});
    const Tensor x = tensor({-3, 1}, {1, 2});
    const float sigmoid = static_cast<float>(1 / (1 + std::exp(-3.0))), last = std::tanh(sigmoid);
    const float plain = net(x).to_vector<float>()[0];
    CHECK(plain == Approx(last));
    // By path: what the module computes.
    const std::map<std::string, std::vector<float>> expected{{"0", {-3, 1}}, {"1", {0, 1}},      {"2", {sigmoid}},
                                                             {"2.0", {3}},   {"2.1", {sigmoid}}, {"3", {last}}};
    std::map<std::string, std::vector<float>> seen;
    const auto hook = [&](const NamedModule& m) {
      return m.module->register_forward_hook([&seen, name = m.name](Module&, const TensorList&, const Tensor& y) {
        CHECK(seen.count(name) == 0);
        seen[name] = y.to_vector<float>();
      });
    };
    const auto check = [&] {
      CHECK(net(x).to_vector<float>()[0] == Approx(plain).epsilon(1e-6));
      for (const auto& [name, values] : seen) {
        INFO(name);
        REQUIRE(expected.count(name) == 1);
        REQUIRE(values.size() == expected.at(name).size());
        for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected.at(name)[i]).epsilon(1e-6));
      }
    };
    for (const NamedModule& m : net.named_modules()) {  // one at a time, then all at once
      if (m.name.empty()) continue;
      INFO("hook of " << m.name);
      seen.clear();
      HookHandle handle = hook(m);
      CHECK(m.module->has_hooks());
      check();
      CHECK(seen.size() == 1);
      handle.remove();
      CHECK(!m.module->has_hooks());
    }
    seen.clear();
    ScopedHooks all;
    for (const NamedModule& m : net.named_modules()) {
      if (!m.name.empty()) all.add(hook(m));
    }
    check();
    CHECK(seen.size() == expected.size());
  }
}

TEST_CASE("run_chain: a pre-hook unfuses too, and a hooked module leaves the residual's place as it is", "[layers]") {
  const test::DefaultDevice on("reference");
  Linear linear(2, 2);
  test::set(linear, "weight", {1, 0, 0, 1});
  test::set(linear, "bias", {0, 0});
  ReLU relu;
  const Tensor x = tensor({-3, 2}, {1, 2}), residual = tensor({1, -5}, {1, 2});
  std::vector<float> before_relu;
  ScopedHooks hooks;
  hooks.add(relu.register_forward_pre_hook(
      [&](Module&, const TensorList& inputs) { before_relu = inputs[0].to_vector<float>(); }));
  CHECK(run({&linear, &relu}, true, x, residual) == std::vector<float>{0, 0});
  CHECK(before_relu == std::vector<float>{-2, -3});
  std::vector<float> of_linear;
  hooks.add(linear.register_forward_hook(
      [&](Module&, const TensorList&, const Tensor& y) { of_linear = y.to_vector<float>(); }));
  CHECK(run({&linear, &relu}, true, x, residual) == std::vector<float>{0, 0});
  CHECK(of_linear == std::vector<float>{-3, 2});
}

TEST_CASE("run_chain: a residual of another shape is an error, fused or not", "[layers]") {
  const test::DefaultDevice on("reference");
  Residual net(Conv2d(4, 1, 1));  // (N, H, W, 1) + (N, H, W, 4) could be broadcast
  for (const bool fusion : {false, true}) {
    net.set_fusion(fusion);
    CHECK_THROWS_WITH(net(rand({1, 2, 2, 4})), Catch::Matchers::Contains("residual must be (1, 2, 2, 1)"));
  }
}

TEST_CASE("run_chain: gradients are the same fused and not", "[layers]") {
  for (const Backend* row : test::rows_with(&Kernels<float>::conv2d_forward)) {
    INFO(row->name);
    const test::DefaultDevice on(row->name);
    Sequential net(Conv2d(3, 8, 3), LeakyReLU(0.1), Conv2d(8, 8, 3), Hardswish(), Flatten(), Linear(8, 6), ELU(0.7),
                   Linear(6, 6), Softplus(), Linear(6, 4), Sigmoid());
    const Tensor x = rand({2, 5, 5, 3}, -1, 1);
    std::vector<std::vector<float>> grads[2];
    for (const bool fusion : {false, true}) {
      net.set_fusion(fusion);
      net.zero_grad();
      sum(net(x)).backward();
      for (const Tensor& p : net.parameters()) grads[fusion].push_back(p.grad().to_vector<float>());
    }
    for (size_t i = 0; i < grads[0].size(); ++i) {
      double largest = 0, difference = 0;
      for (size_t j = 0; j < grads[0][i].size(); ++j) {
        largest = std::max<double>(largest, std::abs(grads[0][i][j]));
        difference = std::max<double>(difference, std::abs(grads[0][i][j] - grads[1][i][j]));
      }
      CHECK(largest > 0);
      CHECK(difference <= 1e-5 * largest);
    }
  }
}

TEST_CASE("layers take activations with parameters, and what makes no sense is refused", "[layers]") {
  const test::DefaultDevice on("reference");
  Linear linear(2, 2, Activation::leaky_relu(0.5));
  test::set(linear, "weight", {1, 0, 0, 1});
  test::set(linear, "bias", {0, 0});
  CHECK(linear(tensor({-3, 2}, {1, 2})).to_vector<float>() == std::vector<float>{-1.5f, 2});
  CHECK_THROWS_WITH(Linear(1, 1, Activation::softplus(0)), Catch::Matchers::Contains("[softplus] beta must not be 0"));
  CHECK_THROWS_WITH(Conv2d(1, 1, 1, Activation::hardtanh(2, 1)), Catch::Matchers::Contains("min must be below max"));
  CHECK_THROWS_WITH(Conv2d(1, 1, 1, Activation{{UnaryOp::log}}),
                    Catch::Matchers::Contains("[conv2d] takes an activation"));
  Flatten flatten;
  CHECK_THROWS_WITH(flatten(rand({1, 1}), Activation::relu, Tensor()), Catch::Matchers::Contains("Flatten"));
}

TEST_CASE("ChainObserver sees neighbours", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net(Linear(1, 1), ReLU(), Linear(1, 1));
  std::vector<std::string> seen;
  {
    const ChainObserver observer([&](Module& a, Module& b) { seen.push_back(a.type_name() + " " + b.type_name()); });
    net(rand({1, 1}));
  }
  net(rand({1, 1}));
  CHECK(seen == std::vector<std::string>{"Linear ReLU", "ReLU Linear"});
}

}  // namespace
}  // namespace dnn
