#include <catch2/catch.hpp>

#include <libdnn/layers/layers.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("Concat joins branches along the channels", "[layers]") {
  const test::DefaultDevice on("reference");
  Concat block;
  block.add("same", Identity());
  block.add("positive", ReLU());
  CHECK(block(tensor({-1, 2}, {1, 1, 1, 2})).to_vector<float>() == std::vector<float>{-1, 2, 0, 2});
  CHECK((*block.clone())(tensor({-1, 2}, {1, 1, 1, 2})).size(-1) == 4);
}

TEST_CASE("Residual adds its input", "[layers]") {
  const test::DefaultDevice on("reference");
  Residual block(Sequential(Linear(2, 2), ReLU()));
  CHECK(test::names_and_shapes(block) == test::Names{"body.0.weight(2, 2)", "body.0.bias(2)"});
  test::set(block.child("body").child("0"), "weight", {1, 0, 0, 1});
  test::set(block.child("body").child("0"), "bias", {0, 0});
  for (const bool fusion : {false, true}) {
    block.set_fusion(fusion);
    CHECK(block(tensor({-1, 2}, {1, 2})).to_vector<float>() == std::vector<float>{-1, 4});
  }
  Residual plain{Tanh()};
  const std::vector<float> y = plain(tensor({0, 1}, {1, 2})).to_vector<float>();
  CHECK(y[0] == 0);
  CHECK(y[1] == Approx(1 + std::tanh(1.0)));
}

struct Pair : Block {
  Pair() {
    add("linear", Linear(2, 2));
    add("relu", ReLU());
  }
  Tensor forward(const Tensor& x) override { return chain(x, {"linear", "relu"}, x); }
  TensorList forward_heads(const Tensor& x) override { return {forward(x), child("linear")(x)}; }
  std::vector<double> head_weights() const override { return {1, 0.5}; }
  std::shared_ptr<Module> clone() const override { return std::make_shared<Pair>(*this); }
};

TEST_CASE("Block: a chain of children, and several heads in training", "[layers]") {
  const test::DefaultDevice on("reference");
  Pair block;
  test::set(block.child("linear"), "weight", {1, 0, 0, 1});
  test::set(block.child("linear"), "bias", {1, -9});
  const Tensor x = tensor({2, 3}, {1, 2});
  CHECK(block(x).to_vector<float>() == std::vector<float>{5, 0});
  int calls = 0;
  block.register_forward_hook([&](Module&, const TensorList&, const Tensor& y) {
    ++calls;
    CHECK(y.to_vector<float>()[0] == 5);
  });
  const TensorList heads = block.heads(x);
  REQUIRE(heads.size() == 2);
  CHECK(heads[1].to_vector<float>() == std::vector<float>{3, -6});
  CHECK(calls == 1);
  block.eval();
  CHECK(block.heads(x).size() == 1);
  CHECK(Linear(1, 1).head_weights() == std::vector<double>{1});
}

TEST_CASE("head_losses: the total is the weighted sum of the parts", "[layers]") {
  const test::DefaultDevice on("reference");
  Pair block;
  test::set(block.child("linear"), "weight", {1, 0, 0, 1});
  test::set(block.child("linear"), "bias", {1, -9});
  const Tensor x = tensor({2, 3}, {1, 2}), label = from_vector<int32_t>({1}, {1});
  const HeadLosses training = head_losses(block, x, label);  // of the logits (5, 0) and (3, -6)
  CHECK(training.scores.to_vector<float>() == std::vector<float>{5, 0});
  REQUIRE(training.losses.size() == 2);
  CHECK(training.losses[0].item() == Approx(5 + std::log1p(std::exp(-5.0))));
  CHECK(training.losses[1].item() == Approx(9 + std::log1p(std::exp(-9.0))));
  CHECK(training.weights == std::vector<double>{1, 0.5});
  CHECK(training.total.item() == Approx(training.losses[0].item() + 0.5 * training.losses[1].item()));
  training.total.backward();
  CHECK(block.child("linear").parameter("bias").grad().to_vector<float>()[0] ==
        Approx(1 / (1 + std::exp(-5.0)) + 0.5 / (1 + std::exp(-9.0))));
  block.eval();
  const HeadLosses one = head_losses(block, x, label);
  CHECK(one.weights == std::vector<double>{1});
  CHECK(one.total.item() == one.losses[0].item());
}

struct Unweighted : Pair {
  std::vector<double> head_weights() const override { return {1}; }
};

TEST_CASE("head_losses: a head without a weight is an error", "[layers]") {
  const test::DefaultDevice on("reference");
  Unweighted block;
  CHECK_THROWS_WITH(head_losses(block, tensor({2, 3}, {1, 2}), from_vector<int32_t>({1}, {1})),
                    Catch::Matchers::Contains("2 heads and 1 weights"));
}

}  // namespace
}  // namespace dnn
