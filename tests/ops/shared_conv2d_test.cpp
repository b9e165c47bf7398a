#include "ops_test.h"

#include <libdnn/ops/shared_conv2d.h>

namespace dnn::test {
namespace {

TEST_CASE("shared_conv2d op: value", "[ops]") {
  // Two channels under one 2x2 filter.
  const Tensor x = leaf64({1, 10, 2, 20, 3, 30, 4, 40}, {1, 2, 2, 2}), w = leaf64({1, 2, 3, 4}, {1, 2, 2, 1});
  check_values(shared_conv2d(x, w, Tensor()), {30, 300});
  check_values(shared_conv2d(x, w, leaf64({-31}, {1}), {.activation = Activation::relu}), {0, 269});
}

TEST_CASE("shared_conv2d op: gradients and rows", "[ops]") {
  for (const int channels : {1, 3, 9}) {
    for (const Activation activation : {Activation::none, Activation::tanh}) {
      INFO(channels << " channels, activation " << static_cast<int>(activation.op));
      const TensorList in{random64({2, 5, 6, channels}, 1), random64({1, 2, 2, 1}, 2), random64({1}, 3)};
      const Conv2dOptions options{.stride = {2, 2}, .padding = {1, 0, 0, 1}, .activation = activation};
      check_op([&](const TensorList& t) { return TensorList{shared_conv2d(t[0], t[1], t[2], options)}; }, in);
      check_op([&](const TensorList& t) { return TensorList{shared_conv2d(t[0], t[1], Tensor(), options)}; },
               {in[0], in[1]});
      const Tensor x = in[0].detach(), w = in[1].detach(), b = in[2].detach();
      check_gradients([&](const TensorList& t) { return TensorList{shared_conv2d(t[0], w, b, options)}; }, {in[0]});
      check_gradients([&](const TensorList& t) { return TensorList{shared_conv2d(x, t[0], b, options)}; }, {in[1]});
      check_gradients([&](const TensorList& t) { return TensorList{shared_conv2d(x, w, t[0], options)}; }, {in[2]});
    }
  }
}

TEST_CASE("shared_conv2d op: an empty batch", "[ops]") {
  const Op f = [](const TensorList& t) { return TensorList{shared_conv2d(t[0], t[1], t[2])}; };
  check_empty(f, {random64({0, 4, 4, 3}, 1), random64({1, 2, 2, 1}, 2), random64({1}, 3)}, {0, 3, 3, 3});
}

TEST_CASE("shared_conv2d op: bad input", "[ops]") {
  const Tensor x = zeros({1, 4, 4, 3}), w = zeros({1, 2, 2, 1}), b = zeros({1});
  CHECK_THROWS_WITH(shared_conv2d(x, zeros({3, 2, 2, 1}), b), Contains("[shared_conv2d]") && Contains("(3, 2, 2, 1)"));
  CHECK_THROWS_WITH(shared_conv2d(x, w, zeros({3})), Contains("[shared_conv2d] bias must be (1); got (3)"));
  CHECK_THROWS_WITH(shared_conv2d(x, w, b, {.groups = 3}), Contains("[shared_conv2d]") && Contains("groups 3"));
  CHECK_THROWS_WITH(shared_conv2d(x, zeros({1, 5, 2, 1}), b), Contains("[shared_conv2d]") && Contains("height"));
}

}  // namespace
}  // namespace dnn::test
