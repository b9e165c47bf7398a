#include <catch2/catch.hpp>

#include <libdnn/layers/adaptive_avg_pool2d.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("AdaptiveAvgPool2d: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  const Tensor picture = tensor({1, 2, 3, 4, 5, 6}, {1, 2, 3, 1});
  AdaptiveAvgPool2d global(1), wide({1, 2});
  CHECK(test::names_and_shapes(global).empty());
  CHECK(global(picture).to_vector<float>() == std::vector<float>{3.5});
  CHECK(wide(picture).to_vector<float>() == std::vector<float>{3, 4});
  CHECK((*wide.clone())(picture).to_vector<float>() == std::vector<float>{3, 4});
}

}  // namespace
}  // namespace dnn
