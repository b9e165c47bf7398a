#include <catch2/catch.hpp>

#include <libdnn/layers/flatten.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("Flatten: channels come first", "[layers]") {
  const test::DefaultDevice on("reference");
  Flatten flatten;
  CHECK(flatten(tensor({1, 5, 2, 6, 3, 7, 4, 8}, {1, 2, 2, 2})).to_vector<float>() ==
        std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
}

}  // namespace
}  // namespace dnn
