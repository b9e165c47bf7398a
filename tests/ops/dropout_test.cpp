#include "ops_test.h"

#include <libdnn/core/random.h>
#include <libdnn/ops/dropout.h>
#include <libdnn/ops/reduce.h>

namespace dnn::test {
namespace {

TEST_CASE("dropout op: kept values, mean, the same on every row", "[ops]") {
  std::vector<float> first;
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  for (const std::string& row : rows) {
    INFO(row);
    manual_seed(3);
    const Tensor x = tensor(std::vector<float>(100000, 1), {100000}, row);
    const std::vector<float> y = dropout(x, 0.4).to_vector<float>();
    CHECK(random_state().call == 1);
    double mean = 0;
    bool exact = true;
    for (const float value : y) {
      exact = exact && (value == 0 || value == 1 / 0.6f);
      mean += value / 100000;
    }
    CHECK(exact);
    CHECK(mean == Approx(1).margin(0.01));
    if (first.empty()) first = y;
    CHECK(y == first);
  }
}

TEST_CASE("dropout op: the gradient passes where the value did", "[ops]") {
  const Op f = [](const TensorList& t) {
    manual_seed(5);
    return TensorList{dropout(t[0], 0.5)};
  };
  check_op(f, {random64({3, 17}, 1)});
  // Also written over a gradient of its own.
  const Tensor x = leaf64(std::vector<double>(50, 1), {50});
  const Tensor y = dropout(x, 0.3);
  sum(y).backward();
  check_values(x.grad(), values_of(y));
}

TEST_CASE("dropout op: the identity takes no random number", "[ops]") {
  manual_seed(3);
  const Tensor x = random64({4}, 1);
  CHECK(dropout(x, 0.5, false).impl() == x.impl());
  CHECK(dropout(x, 0).impl() == x.impl());
  CHECK(random_state().call == 0);
  check_empty([](const TensorList& t) { return TensorList{dropout(t[0], 0.5)}; }, {random64({0, 4}, 1)}, {0, 4});
}

TEST_CASE("dropout op: nothing is left of a probability of 1", "[ops]") {
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  for (const std::string& row : rows) {
    INFO(row);
    Tensor x = tensor(std::vector<float>(37, 3), {37}, row);
    x.requires_grad(true);
    const Tensor y = dropout(x, 1);
    CHECK(y.to_vector<float>() == std::vector<float>(37, 0));
    sum(y).backward();
    CHECK(x.grad().to_vector<float>() == std::vector<float>(37, 0));
  }
}

TEST_CASE("dropout op: bad input", "[ops]") {
  const Tensor x = zeros({4});
  CHECK_THROWS_WITH(dropout(x, 1.5), Contains("[dropout]") && Contains("got 1.5"));
  CHECK_THROWS_WITH(dropout(x, -0.1), Contains("[dropout]") && Contains("-0.1"));
  CHECK_THROWS_WITH(dropout(x, std::nan(""), false), Contains("[dropout]") && Contains("nan"));
}

}  // namespace
}  // namespace dnn::test
