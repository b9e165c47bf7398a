#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include <libdnn/optim/sgd.h>
#include <tests/kernels/rows.h>

#include "../default_device.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

Tensor parameter(const std::vector<float>& values, const Device& device) {
  Tensor w = tensor(values, {static_cast<int>(values.size())}, device);
  w.requires_grad(true);
  return w;
}

void check_values(const Tensor& t, const std::vector<double>& expected) {
  const std::vector<float> values = t.to_vector<float>();
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]).epsilon(1e-6));
}

TEST_CASE("sgd: no parameters", "[sgd]") { CHECK_THROWS_WITH(SGD({}, {}), Contains("no parameters to train")); }

TEST_CASE("sgd: two steps by hand on every row", "[sgd]") {
  for (const Backend* backend : test::rows_with(&Kernels<float>::sgd_step)) {
    const Device row = backend->name;
    INFO(row.name());
    const auto run = [&](const SGD::Options& options) {
      const Tensor w = parameter({1, -2}, row);
      SGD sgd({{"w", w}}, options);
      for (const std::vector<float>& dw : {std::vector<float>{0.5, 1}, std::vector<float>{-1, 2}}) {
        w.set_grad(tensor(dw, {2}, row));
        sgd.step();
      }
      CHECK(sgd.step_count() == 2);
      return w;
    };
    check_values(run({.lr = 0.1}), {1.05, -2.3});
    // v: (.5, 1), then (-.55, 2.9)
    check_values(run({.lr = 0.1, .momentum = 0.9}), {1 - 0.05 + 0.055, -2 - 0.1 - 0.29});
    // g: (.5 + .1, 1 - .2), w (.94, -2.08); then (-1 + .094, 2 - .208)
    check_values(run({.lr = 0.1, .weight_decay = 0.1}), {0.94 + 0.0906, -2.08 - 0.1792});
    // w -= .1 (g + .9 v): .1 (.5 + .45), .1 (1 + .9); then .1 (-1 - .495), .1 (2 + 2.61)
    check_values(run({.lr = 0.1, .momentum = 0.9, .nesterov = true}), {1 - 0.095 + 0.1495, -2 - 0.19 - 0.461});
  }
}

TEST_CASE("sgd: parameters without a gradient stay, also their velocity", "[sgd]") {
  const Device device = test::exact_device();
  const Tensor w = parameter({1}, device), still = parameter({5}, device);
  SGD sgd({{"w", w}, {"still", still}}, {.lr = 1, .momentum = 0.5, .weight_decay = 0.1});
  w.set_grad(tensor({1}, {1}, device));
  sgd.step();
  CHECK(still.item() == 5);
  REQUIRE(sgd.velocities().size() == 2);
  CHECK(sgd.velocities()[0].tensor.item() != 0);
  CHECK(sgd.velocities()[1].tensor.item() == 0);
  sgd.zero_grad();
  const double before = w.item();
  sgd.step();
  CHECK(w.item() == before);
  CHECK(sgd.step_count() == 2);
}

TEST_CASE("sgd: the learning rate can change, the net can move", "[sgd]") {
  const Tensor w = parameter({1}, test::exact_device());
  SGD sgd({{"w", w}}, {.lr = 1, .momentum = 0.5});
  w.set_grad(tensor({1}, {1}, test::exact_device()));
  sgd.step();
  CHECK(w.item() == 0);
  sgd.set_lr(0.1);
  CHECK(sgd.lr() == 0.1);
  w.move_to("cpu");
  sgd.step();  // v = 1.5
  CHECK(w.item() == Approx(-0.15));
}

TEST_CASE("sgd: a restored optimiser goes on bit for bit", "[sgd]") {
  const Device device = test::exact_device();
  const auto steps = [&](SGD& sgd, const Tensor& w, int from, int to) {
    for (int i = from; i < to; ++i) {
      w.set_grad(tensor({0.1f * static_cast<float>(i), 0.3f}, {2}, device));
      sgd.step();
    }
  };
  const SGD::Options options{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01};
  const Tensor whole = parameter({1, 2}, device), split = parameter({1, 2}, device);
  SGD one({{"w", whole}}, options);
  steps(one, whole, 0, 6);
  SGD first({{"w", split}}, options);
  steps(first, split, 0, 3);
  SGD second({{"w", split}}, options);
  second.restore(first.step_count(), first.velocities());
  steps(second, split, 3, 6);
  CHECK(whole.to_vector<float>() == split.to_vector<float>());
  CHECK(second.step_count() == 6);
}

TEST_CASE("sgd: what makes no sense is refused", "[sgd]") {
  const NamedTensors w{{"w", parameter({1}, test::exact_device())}};
  CHECK_THROWS_WITH(SGD(w, {.lr = -1}), Contains("learning rate") && Contains("-1"));
  CHECK_THROWS_WITH(SGD(w, {.momentum = -1}), Contains("momentum"));
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, inf}) {
    CHECK_THROWS_WITH(SGD(w, {.lr = bad}), Contains("learning rate"));
    CHECK_THROWS_WITH(SGD(w, {.momentum = bad}), Contains("momentum"));
    CHECK_THROWS_WITH(SGD(w, {.weight_decay = bad}), Contains("weight_decay"));
    CHECK_THROWS_WITH(SGD(w, {}).set_lr(bad), Contains("learning rate"));
  }
  CHECK_THROWS_WITH(SGD(w, {.weight_decay = -1}), Contains("weight_decay"));
  CHECK_THROWS_WITH(SGD(w, {.nesterov = true}), Contains("nesterov needs a momentum"));
  SGD sgd(w, {.momentum = 0.9});
  CHECK_THROWS_WITH(sgd.restore(-5, {}), "[sgd] the count of steps is at least 0; got -5");
  CHECK(sgd.step_count() == 0);
  CHECK_THROWS_WITH(sgd.restore(1, {{"x", tensor({1}, {1}, "reference")}}), Contains("'x'"));
  CHECK_THROWS_WITH(sgd.restore(1, {{"w", tensor({1, 2}, {2}, "reference")}}), Contains("(2)") && Contains("(1)"));
}

TEST_CASE("sgd: each parameter once", "[sgd]") {
  const Tensor w = parameter({1}, test::exact_device());
  CHECK_THROWS_WITH(SGD({{"a", w}, {"b", w}}, {}), Contains("[sgd] 'b' is there twice"));
  CHECK_THROWS_WITH(SGD({{"a", Tensor()}}, {}), Contains("[sgd] 'a' is no tensor"));
}

}  // namespace
}  // namespace dnn
