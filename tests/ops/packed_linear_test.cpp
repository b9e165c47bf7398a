#include "../difference.h"
#include "ops_test.h"

#include <libdnn/ops/packed_linear.h>

namespace dnn::test {
namespace {

TEST_CASE("packed linear: value", "[ops]") {
  for (const char* device : {"reference", "cpu"}) {
    const Tensor x = tensor({1, 2, -1, 3}, {2, 2}, device), b = tensor({0, 1, -1}, {3}, device);
    const PackedLinearWeight w = pack_linear_weight(tensor({1, 1, 2, -1, 0, 3}, {3, 2}, device));
    CHECK(linear(x, w, b).to_vector<float>() == std::vector<float>{3, 1, 5, 2, -4, 8});
    CHECK(linear(x, w, Tensor(), Activation::relu).to_vector<float>() == std::vector<float>{3, 0, 6, 2, 0, 9});
    CHECK(linear(zeros({0, 2}, DType::float32, device), w, b).shape() == Shape{0, 3});
  }
}

TEST_CASE("packed linear: as with the plain weight, few rows and many", "[ops]") {
  const Tensor w = rand({70, 300}, -1, 1), b = rand({70}, -1, 1);
  const PackedLinearWeight packed = pack_linear_weight(w);
  for (const int rows : {1, 5, 17, 100, 300}) {
    const Tensor x = rand({rows, 300}, -1, 1);
    CHECK(largest_difference(linear(x, packed, b), linear(x, w, b)) < 2e-5);
  }
}

TEST_CASE("packed linear: bad input", "[ops]") {
  const PackedLinearWeight w = pack_linear_weight(zeros({4, 3}));
  const Tensor x = zeros({2, 3}), b = zeros({4});
  CHECK_THROWS_WITH(pack_linear_weight(zeros({4})), Contains("[pack_linear_weight] w must have 2 dimensions; got (4)"));
  CHECK_THROWS_WITH(linear(zeros({2, 4}), w, b), Contains("[linear]") && Contains("(4, 3)") && Contains("(2, 4)"));
  CHECK_THROWS_WITH(linear(x, w, zeros({3})), Contains("[linear] bias must be (4); got (3)"));
  CHECK_THROWS_WITH(linear(x.to("reference"), w, b.to("reference")), Contains("[linear]") && Contains("device"));
  CHECK_THROWS_WITH(linear(x, w, b, Activation::elu()), Contains("[linear] an activation with parameters"));
  CHECK_THROWS_WITH(linear(zeros({2, 3}).requires_grad(true), w, b), Contains("[linear] a packed weight"));
  const NoGrad no_grad;
  CHECK(linear(zeros({2, 3}).requires_grad(true), w, b).shape() == Shape{2, 4});
}

}  // namespace
}  // namespace dnn::test
