#include "ops_test.h"

#include <libdnn/ops/prelu.h>

namespace dnn::test {
namespace {

TEST_CASE("prelu op: value and gradients", "[ops]") {
  const Tensor x = random64({2, 3, 5, 7}, 1);
  check_values(prelu(leaf64({1, -2, -3, 4}, {2, 2}), leaf64({0.5, -0.25}, {2})), {1, 0.5, -1.5, 4});
  check_values(prelu(leaf64({1, -2, -3, 4}, {2, 2}), leaf64({0.5}, {1})), {1, -1, -1.5, 4});
  const auto run = [](const TensorList& t) { return TensorList{prelu(t[0], t[1])}; };
  for (const int parameters : {1, 7}) {
    const Tensor slope = random64({parameters}, 2);
    check_op(run, {x, slope});
    check_gradients([&](const TensorList& t) { return TensorList{prelu(t[0], slope.detach())}; }, {x});
    check_gradients([&](const TensorList& t) { return TensorList{prelu(x.detach(), t[0])}; }, {slope});
    check_empty(run, {random64({0, 4, 7}, 1), slope}, {0, 4, 7});
  }
}

TEST_CASE("prelu op: a slope of any shape that broadcasts", "[ops]") {
  const Tensor x = leaf64({1, -2, -3, -4}, {2, 2}), slope = leaf64({0.5, -1}, {2, 1});
  check_values(prelu(x, slope), {1, -1, 3, 4});
  const auto run = [](const TensorList& t) { return TensorList{prelu(t[0], t[1])}; };
  for (const Shape& shape : {Shape{}, Shape{1, 7}, Shape{5, 1}, Shape{3, 5, 7}, Shape{2, 1, 1, 7}, Shape{2, 3, 5, 7}}) {
    INFO(shape.str());
    check_op(run, {random64({2, 3, 5, 7}, 1), random64(shape, 2)});
  }
  check_empty(run, {random64({0, 4, 7}, 1), random64({4, 1}, 2)}, {0, 4, 7});
}

TEST_CASE("prelu op: bad input", "[ops]") {
  CHECK_THROWS_WITH(prelu(random64({2, 3}, 1), random64({2}, 2)), "[prelu] slope must broadcast to (2, 3); got (2)");
  CHECK_THROWS_WITH(prelu(random64({2, 3}, 1), random64({1, 1, 3}, 2)), Contains("got (1, 1, 3)"));
}

}  // namespace
}  // namespace dnn::test
