#include "ops_test.h"

#include <libdnn/ops/scale_channels.h>

namespace dnn::test {
namespace {

const Op kScale = [](const TensorList& t) { return TensorList{scale_channels(t[0], t[1])}; };

TEST_CASE("scale_channels op: values, gradients and rows", "[ops]") {
  check_values(scale_channels(leaf64({1, 2, 3, 4}, {1, 2, 1, 2}), leaf64({10, -1}, {1, 2})), {10, -2, 30, -4});
  const Tensor x = random64({2, 3, 4, 5}, 1);
  const Tensor scale = random64({2, 5}, 2), scale4 = random64({2, 1, 1, 5}, 3);
  check_op(kScale, {x, scale});
  check_op(kScale, {x, scale4});
  check_op(kScale, {x, scale.detach()});
  check_op(kScale, {x.detach(), scale});
  check_rows(kScale, {random64({2, 9, 8, 17}, 4), random64({2, 17}, 5)});
}

TEST_CASE("scale_channels op: an empty batch and bad input", "[ops]") {
  const TensorList none{random64({0, 2, 3, 5}, 1), random64({0, 5}, 2)};
  check_empty(kScale, none, {0, 2, 3, 5});
  for (const std::string& row : float_rows()) {
    check_empty(kScale, {float_copy(none[0], row), float_copy(none[1], row)}, {0, 2, 3, 5});
  }
  const Tensor x = zeros({2, 3, 3, 4});
  CHECK_THROWS_WITH(scale_channels(zeros({3, 3, 4}), zeros({2, 4})), Contains("[scale_channels] x must have 4"));
  CHECK_THROWS_WITH(scale_channels(x, zeros({4})), Contains("[scale_channels]") && Contains("got (4)"));
  CHECK_THROWS_WITH(scale_channels(x, zeros({1, 4})), Contains("got (1, 4) for x (2, 3, 3, 4)"));
  CHECK_THROWS_WITH(scale_channels(x, zeros({2, 4}, DType::float32, "reference")), Contains("one device"));
}

}  // namespace
}  // namespace dnn::test
