#include <catch2/catch.hpp>
#include <cmath>

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

TEST_CASE("Upsample: factors that give no whole size, and one for each direction", "[layers]") {
  const test::DefaultDevice on("reference");
  const Tensor row = tensor({1, 2, 4}, {1, 1, 3, 1});
  const auto check = [&](const Upsample::Options& options, const std::vector<float>& expected) {
    const std::vector<float> y = Upsample(options)(row).to_vector<float>();
    REQUIRE(y.size() == expected.size());
    for (size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(expected[i]));
  };
  check({.scale_factor = Scale2(1, 1.5)}, {1, 1, 2, 4});
  check({.scale_factor = Scale2(2, 1)}, {1, 2, 4, 1, 2, 4});
  check({.scale_factor = Scale2(1, 1.5), .mode = Upsample::Mode::bilinear}, {1, 1.5f, 7 / 3.0f, 11 / 3.0f});
  check({.scale_factor = 1.5, .mode = Upsample::Mode::bilinear, .align_corners = true}, {1, 5 / 3.0f, 8 / 3.0f, 4});
  Upsample half({.scale_factor = 0.5});
  CHECK(half(zeros({1, 5, 7, 2})).shape() == Shape{1, 2, 3, 2});
  CHECK_THROWS_WITH(half(zeros({1, 1, 7, 2})), Contains("[upsample_nearest]") && Contains("0x3"));
}

TEST_CASE("Upsample: what makes no sense is refused", "[layers]") {
  CHECK_THROWS_WITH(Upsample(Upsample::Options{}), "[upsample] needs either a size or a scale_factor; got none");
  CHECK_THROWS_WITH(Upsample({.size = Size2(2), .scale_factor = 2}), Contains("got both"));
  CHECK_THROWS_WITH(Upsample({.scale_factor = -1}), Contains("[upsample] scale_factor") && Contains("got -1x-1"));
  CHECK_THROWS_WITH(Upsample({.scale_factor = Scale2(2, std::nan(""))}), Contains("got 2xnan"));
  CHECK_THROWS_WITH(Upsample({.size = Size2(0, 2)}), "[upsample] size must be at least 1; got 0x2");
  CHECK_THROWS_WITH(Upsample({.scale_factor = 2, .align_corners = true}), Contains("align_corners"));
}

}  // namespace
}  // namespace dnn
