#include <catch2/catch.hpp>

#include <libdnn/layers/prelu.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;
using test::Names;

TEST_CASE("PReLU: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  PReLU one, each({.num_parameters = 2, .init = 0.5});
  CHECK(test::names_and_shapes(one) == Names{"weight(1)"});
  CHECK(test::names_and_shapes(each) == Names{"weight(2)"});
  const Tensor x = tensor({1, -2, -4, 3}, {1, 1, 2, 2});
  CHECK(one(x).to_vector<float>() == std::vector<float>{1, -0.5, -1, 3});
  CHECK(each(x).to_vector<float>() == std::vector<float>{1, -1, -2, 3});
  CHECK_THROWS_WITH(PReLU(0), Contains("got num_parameters 0"));
}

}  // namespace
}  // namespace dnn
