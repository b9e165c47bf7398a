#include "../kernels/fused.h"
#include "ops_test.h"

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/batch_norm.h>

namespace dnn::test {
namespace {

Tensor moved(const Tensor& x, double by) {
  std::vector<double> values = values_of(x);
  for (double& value : values) value += by;
  return leaf64(values, x.shape());
}

TEST_CASE("batch_norm op: value and running statistics", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4}, {2, 1, 2, 1}), weight = leaf64({2}, {1}), bias = leaf64({1}, {1});
  const Tensor running_mean = leaf64({1}, {1}).detach(), running_var = leaf64({2}, {1}).detach();
  const Tensor y = batch_norm(x, running_mean, running_var, weight, bias, {.eps = 0});
  check_values(y, {-1.683281573, 0.105572809, 1.894427191, 3.683281573});
  check_values(running_mean, {1.15});
  check_values(running_var, {1.8 + 0.1 * 5 / 3});
  check_values(batch_norm(x, running_mean, running_var, weight, bias, {.training = false, .eps = 0}),
               {1 - 0.3 / std::sqrt(1.8 + 0.5 / 3), 1 + 1.7 / std::sqrt(1.8 + 0.5 / 3),
                1 + 3.7 / std::sqrt(1.8 + 0.5 / 3), 1 + 5.7 / std::sqrt(1.8 + 0.5 / 3)});
  check_values(running_mean, {1.15});
}

TEST_CASE("batch_norm op: gradients and rows", "[ops]") {
  const Tensor x = random64({2, 3, 5, 9}, 1), weight = random64({9}, 2), bias = random64({9}, 3);
  const Tensor residual = random64(x.shape(), 4);
  const std::vector<double> mean64 = values_of(random64({9}, 5)), var64 = values_of(moved(random64({9}, 6), 1.5));
  for (const bool training : {true, false}) {
    for (const Activation& activation : every_activation()) {
      INFO(text(activation) << (training ? "" : ", eval"));
      const BatchNormOptions options{.training = training, .activation = activation};
      const auto running = [&](const std::vector<double>& values, const Tensor& like) {
        if (like.dtype() == DType::float64) return from_vector(values, {9}, like.device());
        return float_copy(from_vector(values, {9}, exact_device()), like.device().name());
      };
      const auto run = [&](const Tensor& in, const Tensor& w, const Tensor& b, const Tensor& r) {
        return TensorList{batch_norm(in, running(mean64, in), running(var64, in), w, b, options, r)};
      };
      check_op([&](const TensorList& t) { return run(t[0], t[1], t[2], Tensor()); }, {x, weight, bias});
      check_op([&](const TensorList& t) { return run(t[0], t[1], t[2], t[3]); }, {x, weight, bias, residual});
      check_op([&](const TensorList& t) { return run(t[0], Tensor(), Tensor(), Tensor()); }, {x});
      // Each alone.
      const Tensor x0 = x.detach(), weight0 = weight.detach(), bias0 = bias.detach(), residual0 = residual.detach();
      check_gradients([&](const TensorList& t) { return run(t[0], weight0, bias0, residual0); }, {x});
      check_gradients([&](const TensorList& t) { return run(x0, t[0], bias0, residual0); }, {weight});
      check_gradients([&](const TensorList& t) { return run(x0, weight0, t[0], Tensor()); }, {bias});
      check_gradients([&](const TensorList& t) { return run(x0, weight0, bias0, t[0]); }, {residual});
    }
  }
}

TEST_CASE("batch_norm op: the upstream gradient of others is left alone", "[ops]") {
  const Tensor x = random64({4, 3}, 1), residual = random64({4, 3}, 2);
  for (const Activation activation : {Activation::none, Activation::relu}) {
    const Tensor y = batch_norm(x, Tensor(), Tensor(), Tensor(), Tensor(), {.activation = activation}, residual);
    const Tensor dy = upstream_for(y);
    y.backward(dy);
    check_values(dy, values_of(upstream_for(y)));
  }
  // Here the step owns it: d/dx and d/dr of norm(x) + r are not the same memory.
  x.set_grad(Tensor()), residual.set_grad(Tensor());
  const Tensor y = batch_norm(x * 2.0, Tensor(), Tensor(), Tensor(), Tensor(), {}, residual * 3.0);
  (y * 1.0).backward(from_vector(std::vector<double>(12, 1.0), {4, 3}, exact_device()));
  check_values(residual.grad(), std::vector<double>(12, 3.0));
  check_values(x.grad(), std::vector<double>(12, 0.0));
}

TEST_CASE("batch_norm op: an empty batch leaves the statistics alone", "[ops]") {
  const Tensor weight = leaf64({1, 1}, {2}), bias = leaf64({0, 0}, {2});
  const Tensor running_mean = leaf64({3, 4}, {2}).detach(), running_var = leaf64({5, 6}, {2}).detach();
  check_empty([&](const TensorList& t) { return TensorList{batch_norm(t[0], running_mean, running_var, t[1], t[2])}; },
              {random64({0, 2, 2, 2}, 1), weight, bias}, {0, 2, 2, 2});
  check_values(running_mean, {3, 4});
  check_values(running_var, {5, 6});
}

TEST_CASE("batch_norm op: bad input", "[ops]") {
  const Tensor x = random64({2, 3}, 1), none, three = random64({3}, 2), two = random64({2}, 3);
  CHECK_THROWS_WITH(
      batch_norm(random64({1, 1, 1, 3}, 1), none, none, three, three),
      Contains("[batch_norm] training needs more than one value a channel, of more or larger pictures; got x "
               "(1, 1, 1, 3)"));
  CHECK_THROWS_WITH(batch_norm(x, none, none, three, three, {.training = false}), Contains("running statistics"));
  CHECK_THROWS_WITH(batch_norm(x, two, three, three, three), Contains("running_mean must be (3); got (2)"));
  CHECK_THROWS_WITH(batch_norm(x, three, two, three, three), Contains("running_var must be (3)"));
  CHECK_THROWS_WITH(batch_norm(x, three, three, two, three), Contains("weight must be (3)"));
  CHECK_THROWS_WITH(batch_norm(x, three, three, three, two), Contains("bias must be (3)"));
  CHECK_THROWS_WITH(batch_norm(x, none, none, three, three, {}, three), Contains("residual must be (2, 3)"));
  CHECK_THROWS_WITH(batch_norm(x, none, none, three, three, {.activation = Activation::softplus(0)}),
                    Contains("[softplus] beta must not be 0"));
}

}  // namespace
}  // namespace dnn::test
