#include <limits>

#include "ops_test.h"

#include <libdnn/ops/cumsum.h>
#include <libdnn/ops/reduce.h>
#include <libdnn/ops/topk.h>
#include <libdnn/ops/var.h>

namespace dnn::test {
namespace {

TEST_CASE("var and std: values", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 5, 5, 8}, {2, 3});
  check_values(var(x, {1}), {1, 3});
  check_values(var(x, {1}, 0), {2.0 / 3, 2});
  check_values(dnn::std(x, {0}), {std::sqrt(8), std::sqrt(4.5), std::sqrt(12.5)});
  CHECK(var(x, {-1}, 1, true).shape() == Shape{2, 1});
  CHECK(var(x).item() == Approx(6.4));
  const auto [both_var, both_mean] = var_mean(x, {1});
  check_values(both_var, {1, 3});
  check_values(both_mean, {2, 6});
  CHECK(std::isnan(var(leaf64({3}, {})).item()));
  CHECK(std::isnan(var(random64({0, 3}, 1)).item()));
}

TEST_CASE("var and std: gradients and rows", "[ops]") {
  const Tensor x = random64({2, 3, 4, 5}, 1);
  for (const std::vector<int>& dims : std::vector<std::vector<int>>{{}, {0}, {1}, {3}, {1, 2}, {0, 2}, {0, 1, 2}}) {
    check_op(
        [&](const TensorList& in) {
          const auto [both_var, both_mean] = var_mean(in[0], dims, 0.5);
          return TensorList{var(in[0], dims), dnn::std(in[0], dims, 0, true), both_var, both_mean};
        },
        {x});
  }
  check_gradients([](const TensorList& in) { return TensorList{var_mean(in[0], {1}).mean}; }, {random64({3, 4}, 1)});
  check_gradients([](const TensorList& in) { return TensorList{var_mean(in[0], {1}).var}; }, {random64({3, 4}, 1)});
  check_empty([](const TensorList& in) { return TensorList{var(in[0], {1})}; }, {random64({0, 3}, 1)}, {0});
  const Tensor equal = leaf64({2, 2, 2}, {3});  // where the root has no slope
  dnn::std(equal).backward();
  check_values(equal.grad(), {0, 0, 0});
}

TEST_CASE("var: of large numbers that differ little", "[ops]") {
  for (const std::string& row : float_rows()) {
    INFO(row);
    const Tensor x = tensor({1e8f, 1e8f + 8, 1e8f, 1e8f + 8}, {2, 2}, row);
    CHECK(var(x, {}, 0).item() == 16);
    CHECK(var(x, {0}, 0).to_vector<float>() == std::vector<float>{0, 0});
    CHECK(var_mean(tensor({3e38f, 3e38f, 3e38f}, {3}, row)).mean.item() == Approx(3e38));
  }
}

TEST_CASE("var: bad input", "[ops]") {
  CHECK_THROWS_WITH(var(tensor({1, 2}, {2}), {1}), Contains("no dimension 1"));
  CHECK_THROWS_WITH(dnn::std(tensor({1, 2}, {2}), {0, -1}), Contains("[std]") && Contains("twice"));
  CHECK_THROWS_WITH(var(tensor({1, 2}, {2}), {}, std::nan("")), Contains("[var]") && Contains("correction"));
  CHECK_THROWS_WITH(var(Tensor({2}, DType::int32)), Contains("[var]") && Contains("int32"));
}

TEST_CASE("prod: the gradient beside zeros", "[ops]") {
  const Tensor x = leaf64({2, 3, 4, 2, 0, 4, 0, 0, 4}, {3, 3});
  const Tensor y = prod(x, {1});
  check_values(y, {24, 0, 0});
  y.backward(from_vector<double>({1, 1, 1}, {3}, exact_device()));
  check_values(x.grad(), {12, 8, 6, 0, 8, 0, 0, 0, 0});
  check_op(
      [](const TensorList& in) {
        return TensorList{prod(in[0], {0, 2}), prod(in[0], {1}, true), prod(in[0])};
      },
      {random64({2, 3, 4}, 1)});
  CHECK(prod(random64({0, 3}, 1)).item() == 1);
  check_empty([](const TensorList& in) { return TensorList{prod(in[0], {0})}; }, {random64({0, 3}, 1)}, {3});
}

TEST_CASE("cumsum op: gradients and rows", "[ops]") {
  check_values(cumsum(leaf64({1, 2, 3, 4, 5, 6}, {2, 3}), 1), {1, 3, 6, 4, 9, 15});
  for (const int dim : {0, 1, -1}) {
    check_op([&](const TensorList& in) { return TensorList{cumsum(in[0], dim)}; }, {random64({3, 4, 5}, 1)});
  }
  check_empty([](const TensorList& in) { return TensorList{cumsum(in[0], 1)}; }, {random64({0, 3}, 1)}, {0, 3});
  CHECK_THROWS_WITH(cumsum(tensor({1, 2}, {2}), 1), Contains("no dimension 1"));
}

TEST_CASE("topk op: values, places, gradients and rows", "[ops]") {
  const Tensor x = leaf64({3, 1, 4, 1, 5, 9}, {2, 3});
  const auto [values, indices] = topk(x, 2);
  check_values(values, {4, 3, 9, 5});
  CHECK(indices.to_vector<int32_t>() == std::vector<int32_t>{2, 0, 2, 1});
  values.backward(from_vector<double>({1, 2, 3, 4}, {2, 2}, exact_device()));
  check_values(x.grad(), {2, 0, 1, 0, 4, 3});
  for (const int dim : {0, 1, 2}) {
    for (const bool largest : {true, false}) {
      check_op([&](const TensorList& in) { return TensorList{topk(in[0], 2, dim, largest).values}; },
               {random64({3, 4, 5}, 1)});
    }
  }
  CHECK(topk(x, 0).values.shape() == Shape{2, 0});
  CHECK_THROWS_WITH(topk(x, 4), Contains("[topk] k must be from 0 to 3") && Contains("got 4"));
  CHECK_THROWS_WITH(topk(x, -1), Contains("[topk]") && Contains("-1"));
  CHECK_THROWS_WITH(topk(x, 1, 2), Contains("no dimension 2"));
}

}  // namespace
}  // namespace dnn::test
