#include "ops_test.h"

#include <libdnn/ops/linear.h>

namespace dnn::test {
namespace {

const std::vector<Activation> kActivations{Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh};

TEST_CASE("linear: value", "[ops]") {
  const Tensor x = leaf64({1, 2, -1, 3}, {2, 2}), w = leaf64({1, 1, 2, -1, 0, 3}, {3, 2}), b = leaf64({0, 1, -1}, {3});
  check_values(linear(x, w, b), {3, 1, 5, 2, -4, 8});
  check_values(linear(x, w, Tensor()), {3, 0, 6, 2, -5, 9});
  check_values(linear(x, w, b, Activation::relu), {3, 1, 5, 2, 0, 8});
}

TEST_CASE("linear: gradients and rows", "[ops]") {
  const TensorList in{random64({4, 7}, 1), random64({5, 7}, 2), random64({5}, 3)};
  for (const Activation activation : kActivations) {
    INFO("activation " << static_cast<int>(activation.op));
    const Op f = [&](const TensorList& t) { return TensorList{linear(t[0], t[1], t[2], activation)}; };
    check_op(f, in);
    check_rows(f, {random64({33, 65}, 1), random64({17, 65}, 2), random64({17}, 3)});
    check_op([&](const TensorList& t) { return TensorList{linear(t[0], t[1], Tensor(), activation)}; }, {in[0], in[1]});
    // Each gradient alone.
    const Tensor x = in[0].detach(), w = in[1].detach(), b = in[2].detach();
    check_gradients([&](const TensorList& t) { return TensorList{linear(t[0], w, b, activation)}; }, {in[0]});
    check_gradients([&](const TensorList& t) { return TensorList{linear(x, t[0], b, activation)}; }, {in[1]});
    check_gradients([&](const TensorList& t) { return TensorList{linear(x, w, t[0], activation)}; }, {in[2]});
  }
}

TEST_CASE("linear: an empty batch", "[ops]") {
  const Op f = [](const TensorList& t) { return TensorList{linear(t[0], t[1], t[2], Activation::relu)}; };
  check_empty(f, {random64({0, 7}, 1), random64({5, 7}, 2), random64({5}, 3)}, {0, 5});
}

TEST_CASE("linear: bad input", "[ops]") {
  const Tensor x = zeros({2, 3}), w = zeros({4, 3}), b = zeros({4});
  CHECK_THROWS_WITH(linear(zeros({2, 3, 1}), w, b), Contains("[linear] x must have 2 dimensions; got (2, 3, 1)"));
  CHECK_THROWS_WITH(linear(x, zeros({3, 4}), b), Contains("[linear]") && Contains("(3, 4)") && Contains("(2, 3)"));
  CHECK_THROWS_WITH(linear(x, w, zeros({3})), Contains("[linear] bias must be (4); got (3)"));
  CHECK_THROWS_WITH(linear(x, w, zeros({4}, DType::float32, "reference")), Contains("[linear]") && Contains("device"));
}

}  // namespace
}  // namespace dnn::test
