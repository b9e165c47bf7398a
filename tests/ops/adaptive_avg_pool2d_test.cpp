#include "ops_test.h"

#include <libdnn/ops/adaptive_avg_pool2d.h>

namespace dnn::test {
namespace {

TEST_CASE("adaptive_avg_pool2d op: values, gradients and rows", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 3, 3, 1});
  check_values(adaptive_avg_pool2d(x, {2, 2}), {3, 4, 6, 7});
  check_values(adaptive_avg_pool2d(x, {1, 1}), {5});
  check_values(adaptive_avg_pool2d(x, {1, 4}), {4, 4.5, 5.5, 6});
  for (const std::array<int, 2> size : {std::array{1, 1}, {2, 3}, {7, 5}, {5, 9}}) {
    INFO(size[0] << "x" << size[1]);
    const Tensor pictures = random64({2, 5, 6, 3}, 1), wide = random64({1, 9, 8, 17}, 2);
    const Op f = [&](const TensorList& t) { return TensorList{adaptive_avg_pool2d(t[0], size)}; };
    check_op(f, {pictures});
    check_rows(f, {wide});
  }
}

TEST_CASE("adaptive_avg_pool2d op: of the size asked for it is x itself", "[ops]") {
  const Tensor x = random64({2, 3, 4, 5}, 1);
  CHECK(adaptive_avg_pool2d(x, {3, 4}).impl() == x.impl());
}

TEST_CASE("adaptive_avg_pool2d op: an empty batch and bad input", "[ops]") {
  const Tensor none = random64({0, 4, 4, 3}, 1);
  for (const std::array<int, 2> size : {std::array{1, 1}, {2, 3}}) {
    const Op f = [&](const TensorList& t) { return TensorList{adaptive_avg_pool2d(t[0], size)}; };
    check_empty(f, {none}, {0, size[0], size[1], 3});
    for (const std::string& row : float_rows()) check_empty(f, {float_copy(none, row)}, {0, size[0], size[1], 3});
  }
  CHECK_THROWS_WITH(adaptive_avg_pool2d(zeros({4, 4, 3}), {1, 1}), Contains("[adaptive_avg_pool2d] x must have 4"));
  CHECK_THROWS_WITH(adaptive_avg_pool2d(zeros({1, 4, 4, 3}), {0, 2}),
                    Contains("[adaptive_avg_pool2d]") && Contains("0x2"));
  CHECK_THROWS_WITH(adaptive_avg_pool2d(zeros({1, 0, 4, 3}), {1, 1}), Contains("[adaptive_avg_pool2d]"));
}

}  // namespace
}  // namespace dnn::test
