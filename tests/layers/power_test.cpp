#include <catch2/catch.hpp>

#include <libdnn/layers/power.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("Power: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  Power square({.power = 2, .scale = 2, .shift = 1});
  CHECK(square(tensor({0, 1, -2}, {3})).to_vector<float>() == std::vector<float>{1, 9, 9});
}

}  // namespace
}  // namespace dnn
