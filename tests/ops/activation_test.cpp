#include "ops_test.h"

#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/reduce.h>

namespace dnn::test {
namespace {

TEST_CASE("activation op: values and gradients", "[ops]") {
  check_values(relu(leaf64({-1, 0, 2}, {3})), {0, 0, 2});
  check_values(sigmoid(leaf64({-1, 0, 2}, {3})), {0.26894142137, 0.5, 0.88079707798});
  check_values(tanh(leaf64({-1, 0, 2}, {3})), {-0.76159415596, 0, 0.96402758008});
  const Tensor x = random64({3, 5, 7}, 1);
  check_op([](const TensorList& in) { return TensorList{relu(in[0])}; }, {x});
  check_op([](const TensorList& in) { return TensorList{sigmoid(in[0])}; }, {x});
  check_op([](const TensorList& in) { return TensorList{tanh(in[0])}; }, {x});
  check_empty([](const TensorList& in) { return TensorList{tanh(in[0])}; }, {random64({0, 3}, 1)}, {0, 3});
}

TEST_CASE("activation op: a gradient that others hold is left alone", "[ops]") {
  const Tensor x = leaf64({-1, 2}, {2}), dy = from_vector<double>({3, 4}, {2}, "reference");
  relu(x).backward(dy);
  check_values(dy, {3, 4});
  check_values(x.grad(), {0, 4});
  // relu(x) + x: one gradient goes both ways.
  x.set_grad(Tensor());
  (relu(x) + x).backward(from_vector<double>({1, 1}, {2}, "reference"));
  check_values(x.grad(), {1, 2});
  // Here it is the step's own and is overwritten.
  x.set_grad(Tensor());
  sum(relu(relu(x) * 3.0)).backward();
  check_values(x.grad(), {0, 3});
}

TEST_CASE("activation op: bad input", "[ops]") {
  CHECK_THROWS_WITH(relu(Tensor({2}, DType::int32)), Contains("[relu]") && Contains("int32"));
  CHECK_THROWS_WITH(sigmoid(Tensor()), Contains("before it was given a value"));
}

}  // namespace
}  // namespace dnn::test
