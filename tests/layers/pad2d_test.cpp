#include <catch2/catch.hpp>

#include <libdnn/layers/pad2d.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("ZeroPad2d: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  const Tensor picture = tensor({1, 2}, {1, 1, 2, 1});
  ZeroPad2d all(1), sides({0, 1, 1, -1});
  CHECK(test::names_and_shapes(all).empty());
  CHECK(all(picture).to_vector<float>() == std::vector<float>{0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0});
  CHECK(sides(picture).to_vector<float>() == std::vector<float>{0, 1, 0, 0});
  CHECK((*sides.clone())(picture).shape() == Shape{1, 2, 2, 1});
}

}  // namespace
}  // namespace dnn
