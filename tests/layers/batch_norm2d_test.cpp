#include <catch2/catch.hpp>

#include <libdnn/layers/batch_norm2d.h>
#include <libdnn/layers/sequential.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::Names;

Names tensor_names(const Module& module) {
  Names names;
  for (const NamedTensor& t : module.named_tensors()) names.push_back(t.name);
  return names;
}

TEST_CASE("BatchNorm2d: parameters and buffers have torch's names and order", "[layers]") {
  const test::DefaultDevice on("reference");
  const BatchNorm2d norm(3);
  CHECK(test::names_and_shapes(norm) == Names{"weight(3)", "bias(3)"});
  CHECK(tensor_names(norm) == Names{"weight", "bias", "running_mean", "running_var", "num_batches_tracked"});
  CHECK(norm.parameter("weight").to_vector<float>() == std::vector<float>{1, 1, 1});
  CHECK(norm.parameter("bias").to_vector<float>() == std::vector<float>{0, 0, 0});
  CHECK(norm.buffer("running_mean").to_vector<float>() == std::vector<float>{0, 0, 0});
  CHECK(norm.buffer("running_var").to_vector<float>() == std::vector<float>{1, 1, 1});
  CHECK(norm.buffer("num_batches_tracked").shape() == Shape{});
  CHECK(norm.buffer("num_batches_tracked").item() == 0);
  CHECK(tensor_names(BatchNorm2d({.num_features = 3, .affine = false})) ==
        Names{"running_mean", "running_var", "num_batches_tracked"});
  CHECK(tensor_names(BatchNorm2d({.num_features = 3, .track_running_stats = false})) == Names{"weight", "bias"});
}

TEST_CASE("BatchNorm2d: training and eval, by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  BatchNorm2d norm({.num_features = 1, .eps = 0, .activation = Activation::relu});
  test::set(norm, "weight", {2});
  test::set(norm, "bias", {1});
  const Tensor x = tensor({1, 2, 3, 4}, {1, 2, 2, 1});
  const std::vector<float> y = norm(x).to_vector<float>();
  CHECK(y[0] == 0);
  CHECK(y[1] == Approx(0.105573).margin(1e-6));
  CHECK(y[3] == Approx(3.683282));
  CHECK(norm.buffer("running_mean").item() == Approx(0.25));
  CHECK(norm.buffer("running_var").item() == Approx(0.9 + 0.1 * 5 / 3));
  CHECK(norm.buffer("num_batches_tracked").item() == 1);

  norm.eval();
  const double factor = 2 / std::sqrt(0.9 + 0.1 * 5 / 3);
  CHECK(norm(x).to_vector<float>()[3] == Approx(3.75 * factor + 1));
  CHECK(norm.buffer("running_mean").item() == Approx(0.25));
  CHECK(norm.buffer("num_batches_tracked").item() == 1);

  // A copy counts by itself, and without running statistics eval mode takes the batch's.
  BatchNorm2d copy = norm;
  copy.train();
  copy(x);
  CHECK(copy.buffer("num_batches_tracked").item() == 2);
  CHECK(norm.buffer("num_batches_tracked").item() == 1);
  BatchNorm2d untracked({.num_features = 1, .eps = 0, .affine = false, .track_running_stats = false});
  untracked.eval();
  CHECK(untracked(x).to_vector<float>()[3] == Approx(1.341641));
}

TEST_CASE("BatchNorm2d: adds a residual before the activation", "[layers]") {
  const test::DefaultDevice on("reference");
  BatchNorm2d norm(1);
  norm.eval();
  const Tensor x = tensor({1, -2}, {1, 1, 2, 1}), residual = tensor({2, 1}, {1, 1, 2, 1});
  const std::vector<float> y = norm(x, Activation::relu, residual).to_vector<float>();
  CHECK(y[0] == Approx(3).epsilon(1e-4));
  CHECK(y[1] == 0);
  CHECK(norm(x, Activation::none, Tensor()).to_vector<float>()[1] == Approx(-2).epsilon(1e-4));
}

TEST_CASE("BatchNorm2d: an empty batch leaves the statistics alone", "[layers]") {
  const test::DefaultDevice on("reference");
  BatchNorm2d norm(2);
  CHECK(norm(Tensor({0, 4, 4, 2})).shape() == Shape{0, 4, 4, 2});
  CHECK(norm.buffer("running_mean").to_vector<float>() == std::vector<float>{0, 0});
  CHECK(norm.buffer("running_var").to_vector<float>() == std::vector<float>{1, 1});
  CHECK(norm.buffer("num_batches_tracked").item() == 0);
}

TEST_CASE("BatchNorm2d: errors name the layer", "[layers]") {
  const test::DefaultDevice on("reference");
  struct Block : Module {
    Block() { add("bn1", BatchNorm2d(2)); }
    Tensor forward(const Tensor& x) override { return child("bn1")(x, Activation::relu, Tensor()); }
    std::shared_ptr<Module> clone() const override { return std::make_shared<Block>(*this); }
  };
  Sequential net;
  net.add("first", BatchNorm2d(2));
  net.add("block", Block());
  CHECK_THROWS_WITH(net(ones({1, 1, 1, 2})), Contains("more than one value a channel") && Contains("(in first)"));
  CHECK_THROWS_WITH(net(ones({1, 2, 2, 3})), Contains("x must be (N, H, W, 2); got (1, 2, 2, 3)"));
  CHECK_THROWS_WITH(net.child("block")(ones({1, 1, 1, 2})), Contains("(in block.bn1)"));
  CHECK_THROWS_WITH(BatchNorm2d(0), Contains("got num_features 0"));
}

TEST_CASE("BatchNorm2d: on meta", "[layers]") {
  const test::DefaultDevice on("meta");
  BatchNorm2d norm(4);
  CHECK(norm(Tensor({2, 3, 3, 4})).shape() == Shape{2, 3, 3, 4});
}

}  // namespace
}  // namespace dnn
