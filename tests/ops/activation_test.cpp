#include "ops_test.h"

#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/reduce.h>

#include <limits>

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

TEST_CASE("activation op: the other functions", "[ops]") {
  const Tensor x = random64({3, 5, 7}, 1);
  const auto check = [&](auto f, double scale) {
    check_op([=](const TensorList& in) { return TensorList{f(in[0] * scale)}; }, {x});
  };
  check(relu6, 8.3);
  check(hardsigmoid, 3.9);
  check(hardswish, 3.9);
  check(silu, 5);
  check(gelu, 3);
  check([](const Tensor& t) { return leaky_relu(t, 0.2); }, 1);
  check([](const Tensor& t) { return elu(t, 1.5); }, 2);
  check([](const Tensor& t) { return softplus(t, 3); }, 2);
  check([](const Tensor& t) { return leaky_relu(t, -0.2); }, 1);
  check([](const Tensor& t) { return elu(t, -1.5); }, 2);
  check([](const Tensor& t) { return softplus(t, -3); }, 2);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  CHECK_THROWS_WITH(leaky_relu(x, nan), "[leaky_relu] negative_slope must be finite; got nan");
  CHECK_THROWS_WITH(elu(x, inf), "[elu] alpha must be finite; got inf");
  CHECK_THROWS_WITH(softplus(x, nan), "[softplus] beta must be finite; got nan");
  CHECK_THROWS_WITH(softplus(x, 0), "[softplus] beta must not be 0; got 0");
  CHECK_THROWS_WITH(silu(x, nan), "[silu] beta must be finite; got nan");
  CHECK_THROWS_WITH(hardtanh(x, 1, 1), "[hardtanh] min must be below max; got 1 and 1");
}

TEST_CASE("activation op: negative slopes, alphas and betas", "[ops]") {
  // As torch gives them. Below 0 the results are above it: gradients go by x.
  const auto check = [](const auto& f, const std::vector<double>& y, const std::vector<double>& dx) {
    const Tensor x = leaf64({-2, -0.5, 3}, {3});
    const Tensor result = f(x);
    check_values(result, y);
    sum(result).backward();
    check_values(x.grad(), dx);
  };
  check([](const Tensor& x) { return leaky_relu(x, -0.5); }, {1, 0.25, 3}, {-0.5, -0.5, 1});
  check([](const Tensor& x) { return elu(x, -2); }, {1.7293294335, 0.7869386806, 3}, {-0.2706705665, -1.2130613194, 1});
  check([](const Tensor& x) { return softplus(x, -1); }, {-2.1269280110, -0.9740769842, -0.0485873516},
        {0.8807970780, 0.6224593312, 0.0474258732});
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
