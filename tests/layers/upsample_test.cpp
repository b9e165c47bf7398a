#include <catch2/catch.hpp>

#include <libdnn/layers/upsample.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("Upsample: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  const Tensor picture = tensor({1, 2}, {1, 1, 2, 1});
  Upsample twice({.scale_factor = 2}), smooth({.size = Size2(1, 4), .mode = Upsample::Mode::bilinear});
  Upsample corners({.size = Size2(1, 3), .mode = Upsample::Mode::bilinear, .align_corners = true});
  CHECK(test::names_and_shapes(twice).empty());
  CHECK(twice(picture).to_vector<float>() == std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(smooth(picture).to_vector<float>() == std::vector<float>{1, 1.25, 1.75, 2});
  CHECK(corners(picture).to_vector<float>() == std::vector<float>{1, 1.5, 2});
  CHECK((*corners.clone())(picture).shape() == Shape{1, 1, 3, 1});
  Upsample half({.scale_factor = 0.5});
  CHECK(half(zeros({1, 4, 6, 2})).shape() == Shape{1, 2, 3, 2});
}

TEST_CASE("Upsample: what makes no sense is refused", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK_THROWS_WITH(Upsample(Upsample::Options{}), Contains("[upsample] needs a size or a scale_factor"));
  CHECK_THROWS_WITH(Upsample({.size = Size2(2), .scale_factor = 2}), Contains("scale_factor 2 and a size"));
  CHECK_THROWS_WITH(Upsample({.scale_factor = -1}), Contains("got scale_factor -1"));
  CHECK_THROWS_WITH(Upsample({.scale_factor = 2, .align_corners = true}), Contains("align_corners"));
  Upsample half({.scale_factor = 0.5});
  CHECK_THROWS_WITH(half(zeros({1, 4, 5, 2})), Contains("whole sizes") && Contains("4x5"));
}

}  // namespace
}  // namespace dnn
