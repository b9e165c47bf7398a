#include "../difference.h"
#include "ops_test.h"

#include <libdnn/ops/packed_conv2d.h>

namespace dnn::test {
namespace {

TEST_CASE("packed conv2d: value", "[ops]") {
  for (const char* device : {"reference", "cpu", "fake"}) {
    const Tensor x = tensor({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 3, 3, 1}, device), b = tensor({-50}, {1}, device);
    const PackedConv2dWeight w = pack_conv2d_weight(tensor({1, 2, 3, 4}, {1, 2, 2, 1}, device), x.shape());
    CHECK(conv2d(x, w, Tensor()).to_vector<float>() == std::vector<float>{37, 47, 67, 77});
    const Tensor residual = tensor({1, 2, 3, 4}, {1, 2, 2, 1}, device);
    CHECK(conv2d(x, w, b, {.activation = Activation::relu}, residual).to_vector<float>() ==
          std::vector<float>{0, 0, 20, 31});
    CHECK(conv2d(zeros({0, 3, 3, 1}, DType::float32, device), w, b).shape() == Shape{0, 2, 2, 1});
  }
}

TEST_CASE("packed conv2d: as with the plain weight, whatever the pictures that it was packed for", "[ops]") {
  const Conv2dOptions padded{.padding = {1, 1, 1, 1}}, strided{.stride = {2, 2}, .groups = 4};
  for (const Conv2dOptions& options : {padded, strided}) {
    const Tensor w = rand({48, 3, 3, 32 / options.groups}, -1, 1), b = rand({48}, -1, 1);
    for (const int size : {6, 40}) {
      const PackedConv2dWeight packed = pack_conv2d_weight(w, {1, size, size, 32}, options);
      for (const Shape& shape : {Shape{1, 6, 6, 32}, Shape{2, 23, 17, 32}, Shape{1, 40, 40, 32}}) {
        const Tensor x = rand(shape, -1, 1);
        // Sums of up to 288 products of the size of 1 / 3.
        CHECK(largest_difference(conv2d(x, packed, b, options), conv2d(x, w, b, options)) < 1e-4);
      }
    }
  }
}

TEST_CASE("packed conv2d: bad input", "[ops]") {
  const Tensor x = zeros({1, 4, 4, 2}), b = zeros({3});
  const PackedConv2dWeight w = pack_conv2d_weight(zeros({3, 3, 3, 2}), x.shape());
  CHECK_THROWS_WITH(pack_conv2d_weight(zeros({3, 3, 3}), x.shape()), Contains("[conv2d] w must have 4 dimensions"));
  CHECK_THROWS_WITH(conv2d(zeros({1, 4, 4, 3}), w, b), Contains("[conv2d]") && Contains("(1, 4, 4, 3)"));
  CHECK_THROWS_WITH(conv2d(x, w, zeros({2})), Contains("[conv2d] bias must be (3); got (2)"));
  CHECK_THROWS_WITH(conv2d(x, w, b, {}, zeros({1, 2, 2, 2})), Contains("[conv2d] residual must be (1, 2, 2, 3)"));
  CHECK_THROWS_WITH(conv2d(x.to("reference"), w, b.to("reference")), Contains("[conv2d]") && Contains("device"));
  CHECK_THROWS_WITH(conv2d(zeros(x.shape()).requires_grad(true), w, b), Contains("[conv2d] a packed weight"));
}

}  // namespace
}  // namespace dnn::test
