#include <catch2/catch.hpp>

#include <libdnn/layers/dropout.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("Dropout: scales what it keeps, and does nothing in eval", "[layers]") {
  const test::DefaultDevice on("reference");
  Dropout dropout(0.4);
  const Tensor x = ones({100000});
  double sum = 0;
  for (const float value : dropout(x).to_vector<float>()) {
    REQUIRE((value == 0 || value == static_cast<float>(1 / (1 - 0.4))));
    sum += value;
  }
  CHECK(sum / 100000 == Approx(1).margin(0.01));
  dropout.eval();
  CHECK(dropout(x).impl() == x.impl());
  CHECK_THROWS_WITH(Dropout(1.5), Contains("got 1.5"));
  CHECK_THROWS_WITH(Dropout(-0.1), Contains("[dropout]"));
}

}  // namespace
}  // namespace dnn
