#include <catch2/catch.hpp>

#include <libdnn/layers/shared_conv2d.h>

#include "layers_test.h"

namespace dnn {
namespace {

using test::Names;

TEST_CASE("SharedConv2d: parameters", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK(test::names_and_shapes(SharedConv2d({.kernel_size = {4, 3}, .stride = 4})) ==
        Names{"weight(1, 4, 3, 1)", "bias(1)"});
}

TEST_CASE("SharedConv2d: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  SharedConv2d shared({.kernel_size = 2, .stride = 2});
  test::set(shared, "weight", {1, 2, 3, 4});
  test::set(shared, "bias", {1});
  const Tensor x = tensor({1, 5, 2, 6, 3, 7, 4, 8}, {1, 2, 2, 2});  // channels 1..4 and 5..8
  CHECK(shared(x).to_vector<float>() == std::vector<float>{31, 71});
}

}  // namespace
}  // namespace dnn
