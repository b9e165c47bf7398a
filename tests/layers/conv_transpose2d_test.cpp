#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include <libdnn/layers/conv_transpose2d.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::Names;

TEST_CASE("ConvTranspose2d: parameters", "[layers]") {
  const test::DefaultDevice on("reference");
  ConvTranspose2d conv({.in_channels = 6, .out_channels = 4, .kernel_size = {3, 2}, .groups = 2});
  CHECK(test::names_and_shapes(conv) == Names{"weight(6, 3, 2, 2)", "bias(4)"});
  CHECK(test::names_and_shapes(ConvTranspose2d({.in_channels = 1, .out_channels = 1, .bias = false})) ==
        Names{"weight(1, 1, 1, 1)"});
  // Uniform in +- 1 / sqrt(2 * 3 * 2).
  double largest = 0;
  for (const float value : conv.parameter("weight").to_vector<float>())
    largest = std::max(largest, std::abs(0.0 + value));
  CHECK(largest <= 1 / std::sqrt(12.0));
  CHECK(largest > 0.8 / std::sqrt(12.0));
}

TEST_CASE("ConvTranspose2d: by hand, with its options", "[layers]") {
  const test::DefaultDevice on("reference");
  ConvTranspose2d conv({.in_channels = 1,
                        .out_channels = 1,
                        .kernel_size = {1, 2},
                        .stride = {1, 2},
                        .padding = {0, 0, 0, 1},
                        .output_padding = {0, 1},
                        .activation = Activation::relu});
  test::set(conv, "weight", {1, -2});
  test::set(conv, "bias", {0.5});
  // (1, 3) gives 1 -2 3 -6, one more column of nothing, less one at the right.
  const Tensor y = conv(tensor({1, 3}, {1, 1, 2, 1}));
  CHECK(y.shape() == Shape{1, 1, 4, 1});
  CHECK(y.to_vector<float>() == std::vector<float>{1.5, 0, 3.5, 0});
  CHECK((*conv.clone())(tensor({1, 3}, {1, 1, 2, 1})).to_vector<float>() == y.to_vector<float>());
}

TEST_CASE("ConvTranspose2d: what makes no sense is refused", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK_THROWS_WITH(ConvTranspose2d({.in_channels = 3, .out_channels = 4, .groups = 2}),
                    Contains("got 3 in, 4 out, 2 groups"));
}

}  // namespace
}  // namespace dnn
