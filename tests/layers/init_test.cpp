#include <catch2/catch.hpp>

#include <libdnn/core/random.h>
#include <libdnn/layers/conv2d.h>
#include <libdnn/layers/linear.h>
#include <cmath>

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

}  // namespace
}  // namespace dnn
