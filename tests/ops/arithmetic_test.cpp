#include "ops_test.h"

#include <libdnn/ops/activation.h>
#include <libdnn/ops/arithmetic.h>

namespace dnn::test {
namespace {

Tensor ones64(const Shape& shape) {
  return from_vector(std::vector<double>(static_cast<size_t>(shape.numel()), 1.0), shape, exact_device());
}

TEST_CASE("arithmetic: values", "[ops]") {
  const Tensor a = leaf64({1, 2, 3, 4}, {2, 2}), b = leaf64({4, -2}, {2});
  check_values(a + b, {5, 0, 7, 2});
  check_values(a - b, {-3, 4, -1, 6});
  check_values(a * b, {4, -4, 12, -8});
  check_values(a / b, {0.25, -1, 0.75, -2});
  check_values(b / a, {4, -1, 4.0 / 3, -0.5});
  check_values(a + 1.5, {2.5, 3.5, 4.5, 5.5});
  check_values(a - 1.0, {0, 1, 2, 3});
  check_values(a * 2.0, {2, 4, 6, 8});
  check_values(a / 2.0, {0.5, 1, 1.5, 2});
  check_values(1.5 + a, {2.5, 3.5, 4.5, 5.5});
  check_values(1.0 - a, {0, -1, -2, -3});
  check_values(2.0 * a, {2, 4, 6, 8});
  check_values(12.0 / a, {12, 6, 4, 3});
  check_values(-b, {-4, 2});
}

TEST_CASE("arithmetic: gradients of the cases that broke others", "[ops]") {
  const Tensor x = leaf64({-1, 2}, {2});
  (x + x).backward(ones64({2}));
  check_values(x.grad(), {2, 2});
  x.set_grad(Tensor());
  (relu(x) + x).backward(ones64({2}));
  check_values(x.grad(), {1, 2});
  const Tensor a = leaf64({0, 2}, {2}), b = leaf64({3, 0}, {2});
  (a * b).backward(ones64({2}));
  check_values(a.grad(), {3, 0});
  check_values(b.grad(), {0, 2});
  x.set_grad(Tensor());
  (x * x * x).backward(ones64({2}));
  check_values(x.grad(), {3, 12});
  x.set_grad(Tensor());
  (x - x).backward(ones64({2}));
  check_values(x.grad(), {0, 0});
}

TEST_CASE("arithmetic: gradients and rows, also broadcast", "[ops]") {
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{3, 5}, {3, 5}}, {{2, 3, 4, 5}, {5}}, {{5}, {2, 3, 5}}, {{2, 1, 5}, {3, 1}}, {{2, 3, 3, 17}, {2, 1, 1, 17}},
      {{4, 3}, {}},     {{3, 1}, {1, 9}},    {{1}, {1}},
  };
  for (const auto& [a_shape, b_shape] : shapes) {
    INFO(a_shape.str() << " and " << b_shape.str());
    const Tensor a = random64(a_shape, 1), b = random64(b_shape, 2);
    std::vector<double> values = random64(b_shape, 3).to_vector<double>();
    for (double& value : values) value += value < 0 ? -0.5 : 0.5;
    const Tensor away = leaf64(values, b_shape);
    check_op([](const TensorList& in) { return TensorList{in[0] + in[1]}; }, {a, b});
    check_op([](const TensorList& in) { return TensorList{in[0] - in[1]}; }, {a, b});
    check_op([](const TensorList& in) { return TensorList{in[0] * in[1]}; }, {a, b});
    check_op([](const TensorList& in) { return TensorList{in[0] / in[1]}; }, {a, away});
  }
}

TEST_CASE("arithmetic: only the gradient that is wanted", "[ops]") {
  const Tensor a = leaf64({1, 2}, {2}), b = from_vector<double>({3, 4}, {2}, exact_device());
  (a * b + b / 2.0).backward(ones64({2}));
  check_values(a.grad(), {3, 4});
  CHECK_FALSE(b.grad().defined());
  check_gradients([&](const TensorList& in) { return TensorList{b / in[0]}; }, {a});
  check_gradients([&](const TensorList& in) { return TensorList{in[0] / b}; }, {a});
  check_gradients([&](const TensorList& in) { return TensorList{2.0 / in[0] - 3.0 * in[0]}; }, {a});
}

TEST_CASE("arithmetic: an empty batch", "[ops]") {
  const Tensor a = random64({0, 3}, 1), b = random64({3}, 2);
  check_empty([](const TensorList& in) { return TensorList{in[0] * in[1]}; }, {a, b}, {0, 3});
  check_empty([](const TensorList& in) { return TensorList{in[0] / in[1]}; }, {a, b}, {0, 3});
  check_empty([](const TensorList& in) { return TensorList{-in[0]}; }, {a}, {0, 3});
}

TEST_CASE("arithmetic: bad input", "[ops]") {
  const Tensor a = tensor({1, 2}, {2}), b = tensor({1, 2, 3}, {3});
  CHECK_THROWS_WITH(a + b, Contains("[add]") && Contains("(2)") && Contains("(3)"));
  CHECK_THROWS_WITH(a / b, Contains("[div]"));
  CHECK_THROWS_WITH(a * tensor({1, 2}, {2}, "reference"), Contains("[mul]") && Contains("reference"));
  CHECK_THROWS_WITH(a - from_vector<double>({1}, {1}, a.device()), Contains("[sub]") && Contains("float64"));
  CHECK_THROWS_WITH(from_vector<int32_t>({1}, {1}) + 1.0, Contains("[add]") && Contains("int32"));
}

TEST_CASE("arithmetic: a long chain with saved inputs is freed without recursion", "[ops]") {
  const Tensor factor = leaf64({1}, {1});
  Tensor y = factor;
  for (int i = 0; i < 100000; ++i) y = y * factor;
}

}  // namespace
}  // namespace dnn::test
