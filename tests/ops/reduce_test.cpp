#include "ops_test.h"

#include <libdnn/ops/reduce.h>

namespace dnn::test {
namespace {

TEST_CASE("sum and mean: values", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(sum(x).shape() == Shape{});
  CHECK(sum(x).item() == 21);
  CHECK(mean(x).item() == 3.5);
  check_values(sum(x, {0}), {5, 7, 9});
  check_values(sum(x, {-1}), {6, 15});
  check_values(mean(x, {1}), {2, 5});
  CHECK(mean(x, {1}, true).shape() == Shape{2, 1});
  CHECK(sum(x, {}, true).shape() == Shape{1, 1});
  CHECK(sum(x, {1, 0}).shape() == Shape{});
}

TEST_CASE("sum and mean: gradients and rows", "[ops]") {
  const Tensor x = random64({2, 3, 4, 5}, 1);
  const std::vector<std::vector<int>> choices{{}, {0}, {1}, {3}, {1, 2}, {0, 2}, {1, 3}, {0, 1, 2}};
  for (const std::vector<int>& dims : choices) {
    INFO(dims.size() << " dimensions, the first " << (dims.empty() ? -1 : dims[0]));
    check_op([&](const TensorList& in) { return TensorList{sum(in[0], dims), mean(in[0], dims, true)}; }, {x});
  }
  check_op([&](const TensorList& in) { return TensorList{mean(in[0], {1, 2})}; }, {random64({3, 7, 5, 33}, 2)});
  check_op([&](const TensorList& in) { return TensorList{sum(in[0], {1})}; }, {random64({1, 1, 1}, 3)});
}

TEST_CASE("sum_to: the gradient of broadcasting", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4, 5, 6}, {2, 3});
  check_values(sum_to(x, {3}), {5, 7, 9});
  check_values(sum_to(x, {2, 1}), {6, 15});
  check_values(sum_to(x, {}), {21});
  CHECK(sum_to(x, {2, 3}).impl() == x.impl());
  CHECK_THROWS_WITH(sum_to(x, {2}), Contains("[sum_to] (2) does not broadcast to (2, 3)"));
  CHECK_THROWS_WITH(sum_to(leaf64({1}, {}), {1}), Contains("[sum_to]"));
}

TEST_CASE("sum and mean: no values", "[ops]") {
  const Tensor none = random64({0, 3}, 1);
  CHECK(sum(none).item() == 0);
  check_values(sum(none, {0}), {0, 0, 0});
  CHECK(std::isnan(mean(none).item()));
  for (const char* device : {"reference", "cpu", "fake"}) {
    CHECK(std::isnan(mean(zeros({0, 3}, DType::float32, device)).item()));
    const std::vector<float> means = mean(zeros({2, 0}, DType::float32, device), {1}).to_vector<float>();
    CHECK((means.size() == 2 && std::isnan(means[0]) && std::isnan(means[1])));
    CHECK(sum(zeros({0, 3}, DType::float32, device), {0}).to_vector<float>() == std::vector<float>{0, 0, 0});
  }
  check_empty([](const TensorList& in) { return TensorList{mean(in[0], {1})}; }, {none}, {0});
  check_empty([](const TensorList& in) { return TensorList{sum(in[0], {0})}; }, {none}, {3});
}

TEST_CASE("sum and mean: bad input", "[ops]") {
  const Tensor x = tensor({1, 2}, {1, 2});
  CHECK_THROWS_WITH(sum(x, {2}), Contains("no dimension 2"));
  CHECK_THROWS_WITH(mean(x, {1, -1}), Contains("[mean]") && Contains("twice"));
  CHECK_THROWS_WITH(sum(Tensor({2}, DType::uint8)), Contains("[sum]") && Contains("uint8"));
}

TEST_CASE("mean: as large as a plain float sum would stall", "[ops]") {
  for (const std::string& row : float_rows()) {
    INFO(row);
    CHECK(mean(ones({4097, 4097}, DType::float32, row)).item() == Approx(1).epsilon(1e-6));
  }
}

}  // namespace
}  // namespace dnn::test
