#include "ops_test.h"

namespace dnn::test {
namespace {

TEST_CASE("reshape: the same elements in another shape", "[ops]") {
  const Tensor x = random64({2, 3, 4}, 1);
  CHECK(x.reshape({6, 4}).shape() == Shape{6, 4});
  CHECK(x.reshape({-1, 3}).shape() == Shape{8, 3});
  CHECK(x.reshape({24}).data<double>() == x.data<double>());
  check_op([](const TensorList& t) { return TensorList{t[0].reshape({4, -1})}; }, {x});
  check_empty([](const TensorList& t) { return TensorList{t[0].reshape({0, 12})}; }, {random64({0, 3, 4}, 1)}, {0, 12});
}

TEST_CASE("reshape: bad input", "[ops]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(x.reshape({4, 2}), Contains("[reshape]") && Contains("(2, 3)") && Contains("4, 2"));
  CHECK_THROWS_WITH(x.reshape({-1, -1}), Contains("[reshape]") && Contains("only one"));
  CHECK_THROWS_WITH(x.reshape({-1, 4}), Contains("[reshape]") && Contains("-1, 4"));
  CHECK_THROWS_WITH(x.reshape({-2, -3}), Contains("-2, -3"));
  CHECK_THROWS_WITH(zeros({0, 3}).reshape({-1, 0}), Contains("[reshape]"));
}

}  // namespace
}  // namespace dnn::test
