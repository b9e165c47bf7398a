#include <catch2/catch.hpp>

#include <cmath>

#include <libdnn/autograd/gradcheck.h>
#include <libdnn/layers/lrn.h>

#include "layers_test.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("LocalResponseNorm: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  LocalResponseNorm norm(7, 1);
  const std::vector<float> y = norm(tensor({1, 2, 3}, {1, 1, 1, 3})).to_vector<float>();
  CHECK(y[0] == Approx(0.438691));
  CHECK(y[2] == Approx(1.316074));
  LocalResponseNorm with_all({.size = 2, .alpha = 2, .beta = 1, .k = 2});
  CHECK(with_all(tensor({1, 2, 3}, {1, 1, 1, 3})).to_vector<float>()[2] == Approx(0.2));
  CHECK_THROWS_WITH(LocalResponseNorm(0), Contains("got 0"));
}

TEST_CASE("LocalResponseNorm: within a channel, by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  LocalResponseNorm norm({.size = 3, .alpha = 9, .beta = 0.5, .within_channel = true});
  // Two channels, the second twice the first: all nine squares around the middle pixel, four around the corner.
  const Tensor x = tensor({1, 2, 2, 4, 3, 6, 4, 8, 5, 10, 6, 12, 7, 14, 8, 16, 9, 18}, {1, 3, 3, 2});
  const std::vector<float> y = norm(x).to_vector<float>();
  CHECK(y[8] == Approx(5 / std::sqrt(1.0 + 285)));
  CHECK(y[9] == Approx(10 / std::sqrt(1.0 + 4 * 285)));
  CHECK(y[0] == Approx(1 / std::sqrt(1.0 + 1 + 4 + 16 + 25)));
  CHECK(y[17] == Approx(18 / std::sqrt(1.0 + 4 * (25 + 36 + 64 + 81))));
  CHECK_THROWS_WITH(LocalResponseNorm({.size = 4, .within_channel = true}), Contains("must be odd; got 4"));
  // A window larger than the picture.
  LocalResponseNorm wide({.size = 5, .alpha = 25, .beta = 0.5, .within_channel = true});
  CHECK(wide(tensor({1, 2}, {1, 1, 2, 1})).to_vector<float>()[0] == Approx(1 / std::sqrt(6.0)));
}

TEST_CASE("LocalResponseNorm: within a channel, gradients", "[layers]") {
  const test::DefaultDevice on("reference");
  LocalResponseNorm norm({.size = 3, .alpha = 2, .within_channel = true});
  std::vector<double> values;
  for (int i = 0; i < 24; ++i) values.push_back((i * 7 % 24) / 12.0 - 0.9);
  const Tensor x = from_vector(values, {1, 4, 3, 2}, test::exact_device()).requires_grad(true);
  const GradcheckResult check = gradcheck([&](const TensorList& in) { return TensorList{norm(in[0])}; }, {x});
  INFO(check.message);
  CHECK(check.ok);
}

}  // namespace
}  // namespace dnn
