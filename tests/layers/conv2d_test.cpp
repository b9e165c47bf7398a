#include <catch2/catch.hpp>

#include <libdnn/layers/conv2d.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::Names;

TEST_CASE("Conv2d: parameters", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK(test::names_and_shapes(Conv2d(3, 20, 5)) == Names{"weight(20, 5, 5, 3)", "bias(20)"});
  CHECK(test::names_and_shapes(
            Conv2d({.in_channels = 6, .out_channels = 4, .kernel_size = {3, 2}, .groups = 2, .bias = false})) ==
        Names{"weight(4, 3, 2, 3)"});
}

TEST_CASE("Conv2d: by hand, with its options", "[layers]") {
  const test::DefaultDevice on("reference");
  Conv2d conv({.in_channels = 1,
               .out_channels = 1,
               .kernel_size = {1, 2},
               .stride = {2, 1},
               .padding = {0, 0, 0, 1},
               .activation = Activation::relu});
  test::set(conv, "weight", {1, -2});
  test::set(conv, "bias", {0.5});
  // rows 0 and 2 of the picture: x - 2 * right neighbour + .5, the right neighbour of the last is 0
  const Tensor y = conv(tensor({4, 1, 9, 9, 1, 3}, {1, 3, 2, 1}));
  CHECK(y.shape() == Shape{1, 2, 2, 1});
  CHECK(y.to_vector<float>() == std::vector<float>{2.5, 1.5, 0, 3.5});
}

TEST_CASE("Conv2d: what makes no sense is refused", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK_THROWS_WITH(Conv2d(0, 20, 5), Catch::Matchers::EndsWith("got 0 in, 20 out, 1 group"));
  CHECK_THROWS_WITH(Conv2d({.in_channels = 3, .out_channels = 4, .groups = 2}), Contains("got 3 in, 4 out, 2 groups"));
  CHECK_THROWS_WITH(Conv2d(1, 1, -1), Contains("-1"));
}

}  // namespace
}  // namespace dnn
