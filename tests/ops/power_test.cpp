#include "ops_test.h"

#include <libdnn/ops/power.h>

namespace dnn::test {
namespace {

TEST_CASE("power op: value and gradients", "[ops]") {
  check_values(power(leaf64({1, 4, -2}, {3}), 2), {1, 16, 4});
  check_values(power(leaf64({1, 4, -2}, {3}), -0.75, 3, 10), {0.14606376, 0.09844258, 0.35355339});
  for (const double p : {-0.75, 0.5, 1.0, 2.0, 2.7}) {
    check_op([p](const TensorList& t) { return TensorList{power(t[0], p, 0.6, 1.3)}; }, {random64({2, 3, 5}, 1)});
  }
  check_empty([](const TensorList& t) { return TensorList{power(t[0], 2)}; }, {random64({0, 3}, 1)}, {0, 3});
}

TEST_CASE("power op: no gradient where the result does not depend on x", "[ops]") {
  const Tensor x = leaf64({0, 1}, {2});
  power(x, 0).backward(from_vector<double>({1, 1}, {2}, exact_device()));
  check_values(x.grad(), {0, 0});
}

TEST_CASE("power op: bad input", "[ops]") {
  CHECK_THROWS_WITH(power(Tensor({2}, DType::int32), 2), Contains("[power]") && Contains("int32"));
}

}  // namespace
}  // namespace dnn::test
