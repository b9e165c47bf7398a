#include <limits>

#include "ops_test.h"

#include <libdnn/ops/compare.h>
#include <libdnn/ops/logical.h>

namespace dnn::test {
namespace {

using Bools = std::vector<bool>;

std::vector<std::string> all_rows() {
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  return rows;
}

const float kInf = std::numeric_limits<float>::infinity(), kNan = std::nanf("");

TEST_CASE("compare ops: functions, operators, numbers", "[ops]") {
  for (const std::string& row : all_rows()) {
    INFO(row);
    const Tensor a = tensor({1, 2, 3}, {3}, row), b = tensor({2, 2, 2}, {3}, row);
    CHECK(eq(a, b).dtype() == DType::boolean);
    CHECK(eq(a, b).to_vector<bool>() == Bools{false, true, false});
    CHECK(ne(a, b).to_vector<bool>() == Bools{true, false, true});
    CHECK((a < b).to_vector<bool>() == Bools{true, false, false});
    CHECK((a <= b).to_vector<bool>() == Bools{true, true, false});
    CHECK((a > b).to_vector<bool>() == Bools{false, false, true});
    CHECK((a >= b).to_vector<bool>() == Bools{false, true, true});
    CHECK(eq(a, 3).to_vector<bool>() == Bools{false, false, true});
    CHECK(ne(a, 3).to_vector<bool>() == Bools{true, true, false});
    CHECK((a < 2.0).to_vector<bool>() == Bools{true, false, false});
    CHECK((a <= 2.0).to_vector<bool>() == Bools{true, true, false});
    CHECK((a > 2.0).to_vector<bool>() == Bools{false, false, true});
    CHECK((a >= 2.0).to_vector<bool>() == Bools{false, true, true});
    CHECK((2.0 < a).to_vector<bool>() == Bools{false, false, true});
    CHECK((2.0 <= a).to_vector<bool>() == Bools{false, true, true});
    CHECK((2.0 > a).to_vector<bool>() == Bools{true, false, false});
    CHECK((2.0 >= a).to_vector<bool>() == Bools{true, true, false});
    CHECK((a < tensor({1, 2}, {2, 1}, row)).shape() == Shape{2, 3});
    CHECK_FALSE((a.clone().requires_grad(true) < b).requires_grad());
  }
  CHECK_THROWS_WITH(tensor({1, 2}, {2}) < tensor({1, 2, 3}, {3}), Contains("[lt]") && Contains("(3)"));
  CHECK_THROWS_WITH(eq(tensor({1}, {1}), tensor({1}, {1}, "reference")), Contains("[eq]") && Contains("reference"));
}

TEST_CASE("compare ops: what is no plain number", "[ops]") {
  for (const std::string& row : all_rows()) {
    INFO(row);
    const Tensor x = tensor({0, kNan, kInf, -kInf, 3e38f}, {5}, row).requires_grad(true);
    CHECK(isnan(x).to_vector<bool>() == Bools{false, true, false, false, false});
    CHECK(isinf(x).to_vector<bool>() == Bools{false, false, true, true, false});
    CHECK(isfinite(x).to_vector<bool>() == Bools{true, false, false, false, true});
  }
}

TEST_CASE("equal: shapes, elements and dtypes", "[ops]") {
  for (const std::string& row : all_rows()) {
    INFO(row);
    const Tensor x = tensor({1, 2, 3, 4}, {2, 2}, row);
    CHECK(equal(x, x.clone()));
    CHECK_FALSE(equal(x, x.reshape({4})));
    CHECK_FALSE(equal(x, tensor({1, 2, 3, 5}, {2, 2}, row)));
    CHECK_FALSE(equal(tensor({kNan}, {1}, row), tensor({kNan}, {1}, row)));
    CHECK(equal(tensor({0}, {1}, row), tensor({-0.0f}, {1}, row)));
    CHECK(equal(Tensor({0, 3}, DType::float32, row), Tensor({0, 3}, DType::float32, row)));
    CHECK(equal(from_vector<int32_t>({1, 2}, {2}, row), from_vector<int32_t>({1, 2}, {2}, row)));
    CHECK_FALSE(equal(from_vector<int32_t>({1, 2}, {2}, row), from_vector<int32_t>({1, 3}, {2}, row)));
    CHECK(equal(x < 3.0, x <= 2.0));
    CHECK_FALSE(equal(x < 3.0, x < 2.0));
    CHECK_THROWS_WITH(equal(x, from_vector<int32_t>({1}, {1}, row)), Contains("[equal]") && Contains("int32"));
  }
}

TEST_CASE("allclose: tolerances, infinities and NaN", "[ops]") {
  for (const std::string& row : all_rows()) {
    INFO(row);
    const auto close = [&](float a, float b, double rtol, double atol, bool equal_nan = false) {
      return allclose(tensor({1, a}, {2}, row), tensor({1, b}, {2}, row), rtol, atol, equal_nan);
    };
    CHECK(close(100, 101, 0.01, 0));
    CHECK_FALSE(close(101.1f, 100, 0.01, 0));
    CHECK(close(0, 0.5f, 0, 0.5));
    CHECK_FALSE(close(0, 0.6f, 0, 0.5));
    CHECK(close(-1, -1.005f, 0.01, 0));
    CHECK(close(kInf, kInf, 0, 0));
    CHECK_FALSE(close(1, kInf, 1, 1));
    CHECK_FALSE(close(-kInf, kInf, 1, 1));
    CHECK_FALSE(close(kNan, kNan, 1, 1));
    CHECK(close(kNan, kNan, 0, 0, true));
    CHECK_FALSE(close(kNan, 1, 1, 1, true));
    CHECK(allclose(tensor({1, 1}, {2}, row), tensor({1}, {1}, row)));
    CHECK(allclose(Tensor({0}, DType::float32, row), Tensor({0}, DType::float32, row)));
  }
  const Tensor x = tensor({1}, {1});
  CHECK_THROWS_WITH(allclose(x, x, -1), Contains("[allclose]") && Contains("-1"));
  CHECK_THROWS_WITH(allclose(x, x, 0, kNan), Contains("[allclose]"));
  CHECK_THROWS_WITH(allclose(x, tensor({1}, {1}, "reference")), Contains("[allclose]"));
}

TEST_CASE("logical ops: of bools, numbers and NaN", "[ops]") {
  for (const std::string& row : all_rows()) {
    INFO(row);
    const Tensor x = tensor({0, -2, kNan, 0, 1e-45f}, {5}, row);
    const Tensor mask = from_vector<bool>({true, true, false, false, false}, {5}, row);
    CHECK(logical_not(x).to_vector<bool>() == Bools{true, false, false, true, false});
    CHECK(logical_not(mask).to_vector<bool>() == Bools{false, false, true, true, true});
    CHECK(logical_and(x, mask).to_vector<bool>() == Bools{false, true, false, false, false});
    CHECK(logical_or(x, mask).to_vector<bool>() == Bools{true, true, true, false, true});
    CHECK(logical_xor(mask, x).to_vector<bool>() == Bools{true, false, true, false, true});
    CHECK(any(mask).item() == 1);
    CHECK(all(mask).item() == 0);
    CHECK(all(x, {0}, true).shape() == Shape{1});
    CHECK(any(Tensor({0}, DType::boolean, row)).item() == 0);
    CHECK(all(Tensor({0}, DType::boolean, row)).item() == 1);
    CHECK_THROWS_WITH(any(from_vector<int32_t>({1}, {1}, row)), Contains("int32"));
  }
}

}  // namespace
}  // namespace dnn::test
