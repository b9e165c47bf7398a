#include "ops_test.h"

#include <libdnn/ops/argmax.h>
#include <libdnn/ops/arithmetic.h>

namespace dnn::test {
namespace {

TEST_CASE("assignment operators: a new tensor in the handle, recorded", "[ops]") {
  const Tensor a = leaf64({1, 2}, {2}), b = leaf64({3, 4}, {2});
  Tensor x = a;
  x += b;  // 4, 6
  x *= a;  // 4, 12
  x -= 1;  // 3, 11
  x /= b;  // 1, 2.75
  check_values(x, {1, 2.75});
  check_values(a, {1, 2});  // as it was
  x.backward(from_vector<double>({1, 1}, {2}, exact_device()));
  check_values(a.grad(), {5.0 / 3, 2});                              // (2 a + b) / b
  check_values(b.grad(), {1.0 / 3 - 1.0 / 3, 2.0 / 4 - 11.0 / 16});  // a / b - (a (a + b) - 1) / b^2
  Tensor y = a;
  y += 1;
  y *= 4;
  y /= 2;
  y -= b;
  check_values(y, {1, 2});
  check_gradients(
      [](const TensorList& in) {
        Tensor sum = in[0];
        for (int i = 0; i < 3; ++i) sum += sum * in[1];
        sum /= in[1];
        return TensorList{sum};
      },
      {random64({3}, 1), leaf64({0.5, 0.7, 2}, {3})});
  Tensor wide = a;
  wide += leaf64({1, 2}, {2, 1});  // the result is larger than what was there
  CHECK(wide.shape() == Shape{2, 2});
}

TEST_CASE("argmax and argmin: along a dimension", "[ops]") {
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  for (const std::string& row : rows) {
    INFO(row);
    const Tensor x = tensor({1, 5, 3, 4, 2, 6}, {2, 3}, row).requires_grad(true);
    CHECK(argmax(x, 0).to_vector<int32_t>() == std::vector<int32_t>{1, 0, 1});
    CHECK(argmin(x, 0).to_vector<int32_t>() == std::vector<int32_t>{0, 1, 0});
    CHECK(argmin(x).to_vector<int32_t>() == std::vector<int32_t>{0, 1});
    CHECK(argmax(x, 1, true).shape() == Shape{2, 1});
    CHECK_FALSE(argmin(x).requires_grad());
    CHECK(argmax(Tensor({2, 0, 3}, DType::float32, row), 2).shape() == Shape{2, 0});
  }
  CHECK_THROWS_WITH(argmin(zeros({2, 0, 3}), 1), Contains("[argmin]") && Contains("(2, 0, 3)"));
  CHECK_THROWS_WITH(argmax(zeros({2, 3}), 2), Contains("no dimension 2"));
}

}  // namespace
}  // namespace dnn::test
