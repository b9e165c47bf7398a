#include "ops_test.h"

#include <libdnn/ops/pad2d.h>

namespace dnn::test {
namespace {

TEST_CASE("pad2d op: values, gradients and rows", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4}, {1, 2, 2, 1});
  check_values(pad2d(x, {1, 0, 0, 1}, -2), {-2, -2, -2, 1, 2, -2, 3, 4, -2});
  check_values(pad2d(x, {0, -1, -1, 2}), {2, 0, 0});
  for (const std::array<int, 4> borders : {std::array{1, 2, 3, 0}, {-1, 2, 0, -2}, {0, 0, 0, 0}, {-1, -1, -1, -1}}) {
    const Tensor pictures = random64({2, 4, 5, 3}, 1);
    check_op([&](const TensorList& t) { return TensorList{pad2d(t[0], borders, 0.5)}; }, {pictures});
  }
}

TEST_CASE("pad2d op: an empty batch and bad input", "[ops]") {
  const Op f = [](const TensorList& t) { return TensorList{pad2d(t[0], {1, 2, 3, -1})}; };
  const Tensor none = random64({0, 4, 4, 3}, 1);
  check_empty(f, {none}, {0, 8, 5, 3});
  for (const std::string& row : float_rows()) check_empty(f, {float_copy(none, row)}, {0, 8, 5, 3});
  CHECK_THROWS_WITH(pad2d(zeros({4, 4, 3}), {1, 1, 1, 1}), Contains("[pad2d] x must have 4"));
  CHECK_THROWS_WITH(pad2d(zeros({1, 4, 4, 3}), {-2, 0, -2, 0}), Contains("[pad2d]") && Contains("top -2"));
}

}  // namespace
}  // namespace dnn::test
