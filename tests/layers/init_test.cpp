#include <catch2/catch.hpp>

#include <cmath>

#include <libdnn/core/random.h>
#include <libdnn/layers/conv2d.h>
#include <libdnn/layers/init.h>
#include <libdnn/layers/linear.h>
#include <libdnn/layers/sequential.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("default initialisation is PyTorch's", "[layers]") {
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

struct Moments {
  double mean = 0, std = 0, largest = 0;
};

Moments moments(const Tensor& tensor) {
  Moments m;
  const std::vector<float> values = tensor.to_vector<float>();
  for (const float v : values) {
    m.mean += v / static_cast<double>(values.size());
    m.largest = std::max(m.largest, std::abs(double{v}));
  }
  for (const float v : values) m.std += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  m.std = std::sqrt(m.std);
  return m;
}

TEST_CASE("initialisers: moments", "[layers]") {
  const test::DefaultDevice on("reference");
  manual_seed(1);
  const Tensor w({64, 3, 3, 32});  // fan_in 288, fan_out 576
  const auto check = [&](const init::Initializer& initializer, double std, double largest) {
    initializer(w);
    const Moments m = moments(w);
    CHECK(std::abs(m.mean) < 0.02 * std);
    CHECK(m.std == Approx(std).epsilon(0.03));
    CHECK(m.largest <= largest);
    CHECK(m.largest > 0.9 * std::min(largest, 3 * std));
  };
  check(init::normal(0.5), 0.5, 4);
  check(init::uniform(-1, 1), 1 / std::sqrt(3), 1);
  check(init::kaiming_normal(), std::sqrt(2.0 / 288), 1);
  check(init::kaiming_normal(init::Fan::out, 1), std::sqrt(1.0 / 576), 1);
  check(init::kaiming_uniform(init::Fan::out), std::sqrt(2.0 / 576), std::sqrt(6.0 / 576));
  check(init::xavier_normal(), std::sqrt(2.0 / 864), 1);
  check(init::xavier_uniform(2), 2 * std::sqrt(2.0 / 864), 2 * std::sqrt(6.0 / 864));
  check(init::truncated_normal(1, 0, -1, 1), 0.539560, 1);  // of a normal distribution cut off at one deviation
  check(init::truncated_normal(0.01), 0.01, 0.06);
  init::normal(0.1, 3)(w);
  CHECK(moments(w).mean == Approx(3).epsilon(0.01));
  init::constant(4)(w);
  CHECK(w.to_vector<float>() == std::vector<float>(static_cast<size_t>(w.numel()), 4));
}

TEST_CASE("initialisers: a whole net, and what is refused", "[layers]") {
  const test::DefaultDevice on("reference");
  Sequential net(Conv2d(1, 2, 3), Linear(3, 2));
  init::weights(net, init::constant(1), init::constant(2));
  CHECK(net.child("0").parameter("weight").to_vector<float>()[0] == 1);
  CHECK(net.child("1").parameter("weight").to_vector<float>()[0] == 2);
  CHECK(net.child("1").parameter("bias").to_vector<float>() == std::vector<float>{0, 0});
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(init::kaiming_normal()(Tensor({3})),
                    Contains("[init] a weight has at least 2 dimensions; got (3)"));
  CHECK_THROWS_WITH(init::truncated_normal(1, 0, 9, 10), Contains("[truncated_normal]"));
}

}  // namespace
}  // namespace dnn
