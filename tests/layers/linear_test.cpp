#include <catch2/catch.hpp>

#include <libdnn/layers/linear.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::Names;

TEST_CASE("Linear: parameters", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK(test::names_and_shapes(Linear(7, 5)) == Names{"weight(5, 7)", "bias(5)"});
  CHECK(test::names_and_shapes(Linear({.in_features = 7, .out_features = 5, .bias = false})) == Names{"weight(5, 7)"});
}

TEST_CASE("Linear: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  Linear linear(2, 2, Activation::relu);
  test::set(linear, "weight", {1, 2, 3, -4});
  test::set(linear, "bias", {10, 0});
  CHECK(linear(tensor({1, 1}, {1, 2})).to_vector<float>() == std::vector<float>{13, 0});
}

TEST_CASE("Linear: what makes no sense is refused", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK_THROWS_WITH(Linear(5, 0), Contains("got 5 in, 0 out"));
}

}  // namespace
}  // namespace dnn
