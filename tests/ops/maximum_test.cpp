#include "ops_test.h"

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/max.h>
#include <libdnn/ops/maximum.h>
#include <libdnn/ops/pow.h>
#include <libdnn/ops/reduce.h>

namespace dnn::test {
namespace {

TEST_CASE("maximum and minimum: values, halves at ties", "[ops]") {
  const Tensor a = leaf64({1, 5, 3}, {3}), b = leaf64({2, 4, 3}, {3});
  check_values(maximum(a, b), {2, 5, 3});
  check_values(minimum(a, b), {1, 4, 3});
  check_values(maximum(a, 3.5), {3.5, 5, 3.5});
  check_values(minimum(a, 3.5), {1, 3.5, 3});
  const Tensor dy = from_vector<double>({10, 20, 30}, {3}, exact_device());
  maximum(a, b).backward(dy);
  check_values(a.grad(), {0, 20, 15});
  check_values(b.grad(), {10, 0, 15});
  minimum(a, 3.0).backward(dy);
  check_values(a.grad(), {10, 20, 30});
}

TEST_CASE("maximum and minimum: gradients and rows", "[ops]") {
  const Op f = [](const TensorList& in) { return TensorList{maximum(in[0], in[1]), minimum(in[0], in[1])}; };
  check_op(f, {random64({2, 3, 5}, 1), random64({3, 1}, 2)});
  check_op(f, {random64({}, 1), random64({4}, 2)});
  check_empty([](const TensorList& in) { return TensorList{maximum(in[0], in[1])}; },
              {random64({0, 3}, 1), random64({3}, 2)}, {0, 3});
  CHECK_THROWS_WITH(maximum(tensor({1, 2}, {2}), tensor({1, 2, 3}, {3})), Contains("[maximum]"));
  CHECK_THROWS_WITH(minimum(tensor({1, 2}, {2}), tensor({1, 2, 3}, {3})), Contains("[minimum]"));
}

TEST_CASE("pow of tensors: gradients and rows", "[ops]") {
  const Op f = [](const TensorList& in) { return TensorList{pow(maximum(in[0], 0.13), in[1])}; };
  check_op(f, {random64({2, 3, 5}, 1), random64({3, 1}, 2)});
  check_op([](const TensorList& in) { return TensorList{pow(2.5, in[0])}; }, {random64({7}, 1)});
  // At a = 0 and b = 0, where the logarithm and the power of -1 are infinite.
  const Tensor a = leaf64({0, 0, 0, 2, -2}, {5}), b = leaf64({0, 2, -1, 0, 3}, {5});
  pow(a, b).backward(from_vector<double>({1, 1, 1, 1, 1}, {5}, exact_device()));
  const std::vector<double> da = values_of(a.grad()), db = values_of(b.grad());
  const double inf = std::numeric_limits<double>::infinity();
  CHECK((da[0] == 0 && da[1] == 0 && da[2] == -inf && da[3] == 0 && da[4] == 12));
  CHECK((db[0] == 0 && db[1] == 0 && db[2] == -inf && std::abs(db[3] - std::log(2)) < 1e-12 && std::isnan(db[4])));
}

TEST_CASE("amax and max: ties, NaN, nothing to choose from", "[ops]") {
  const Tensor x = leaf64({1, 3, 3, 2, 2, 0}, {2, 3});
  const Tensor dy = from_vector<double>({10, 20}, {2}, exact_device());
  amax(x, {1}).backward(dy);
  check_values(x.grad(), {0, 5, 5, 10, 10, 0});
  x.set_grad(Tensor());
  const auto [values, indices] = max(x, 1);
  CHECK(indices.to_vector<int32_t>() == std::vector<int32_t>{1, 0});
  values.backward(dy);
  check_values(x.grad(), {0, 10, 0, 20, 0, 0});
  x.set_grad(Tensor());
  (max(x) + min(x)).backward();
  check_values(x.grad(), {0, 0.5, 0.5, 0, 0, 1});
  const Tensor nan = leaf64({1, std::nan(""), 2}, {3});
  CHECK(std::isnan(amin(nan).item()));
  CHECK(std::isnan(min(nan, 0).values.item()));
  CHECK(min(nan, 0).indices.item() == 1);
  max(nan).backward();
  check_values(nan.grad(), {0, 1, 0});

  check_op(
      [](const TensorList& in) {
        return TensorList{amax(in[0], {0, 2}), amin(in[0], {1}, true)};
      },
      {random64({3, 4, 5}, 1)});
  check_op(
      [](const TensorList& in) {
        return TensorList{max(in[0], 1).values, min(in[0], -1, true).values};
      },
      {random64({3, 4, 5}, 1)});
  CHECK_THROWS_WITH(amax(zeros({0, 3})), Contains("[amax]") && Contains("(0, 3)"));
  CHECK_THROWS_WITH(amin(zeros({0, 3}), {0}), Contains("[amin]"));
  CHECK_THROWS_WITH(max(zeros({0, 3}), 0), Contains("[max]"));
  CHECK(amax(zeros({0, 3}), {1}).shape() == Shape{0});
  CHECK(max(zeros({0, 3}), 1).indices.shape() == Shape{0});
  CHECK_THROWS_WITH(amax(zeros({2, 3}), {2}), Contains("no dimension 2"));
}

}  // namespace
}  // namespace dnn::test
