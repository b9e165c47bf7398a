#include "ops_test.h"

#include <libdnn/ops/flatten.h>

namespace dnn::test {
namespace {

TEST_CASE("flatten: C, H, W order", "[ops]") {
  const Tensor x = leaf64({1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60}, {1, 2, 3, 2});
  CHECK(flatten(x).shape() == Shape{1, 12});
  check_values(flatten(x), {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
}

TEST_CASE("flatten: shapes, and no copy where the order stays", "[ops]") {
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{3, 1, 1, 5}, {3, 5}}, {{3, 4, 5, 1}, {3, 20}}, {{3, 4, 5}, {3, 20}}, {{3, 4}, {3, 4}}, {{3}, {3, 1}}};
  for (const auto& [from, to] : shapes) {
    INFO(from.str());
    const Tensor x = random64(from, 1);
    CHECK(flatten(x).shape() == to);
    CHECK(flatten(x).data<double>() == x.data<double>());
    check_gradients([](const TensorList& t) { return TensorList{flatten(t[0])}; }, {x});
  }
}

TEST_CASE("flatten: gradients and rows", "[ops]") {
  const Op f = [](const TensorList& t) { return TensorList{flatten(t[0])}; };
  check_op(f, {random64({2, 3, 4, 5}, 1)});
  check_op(f, {random64({3, 4, 4, 17}, 1)});
  check_empty(f, {random64({0, 3, 4, 5}, 1)}, {0, 60});
}

TEST_CASE("flatten: bad input", "[ops]") {
  CHECK_THROWS_WITH(flatten(leaf64({1}, {})), Contains("[flatten]"));
  CHECK_THROWS_WITH(flatten(Tensor({1, 1 << 16, 1 << 16, 2}, DType::float32, "meta")),
                    Contains("[flatten]") && Contains("65536"));
}

}  // namespace
}  // namespace dnn::test
