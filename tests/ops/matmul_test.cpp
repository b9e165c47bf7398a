#include <nlohmann/json.hpp>

#include "../models/golden.h"
#include "ops_test.h"

#include <libdnn/ops/linear.h>
#include <libdnn/ops/matmul.h>

namespace dnn::test {
namespace {

TEST_CASE("matmul: value", "[ops]") {
  const Tensor a = leaf64({1, 2, 3, 4, 5, 6}, {2, 3}), b = leaf64({1, 0, 2, -1, 0, 1}, {3, 2});
  check_values(matmul(a, b), {5, 1, 14, 1});
  check_values(matmul(a, a, true), {17, 22, 27, 22, 29, 36, 27, 36, 45});
  check_values(matmul(a, a, false, true), {14, 32, 32, 77});
}

TEST_CASE("matmul: gradients and rows", "[ops]") {
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      INFO("transposed: " << trans_a << trans_b);
      const Op f = [&](const TensorList& in) { return TensorList{matmul(in[0], in[1], trans_a, trans_b)}; };
      check_op(f, {random64(trans_a ? Shape{5, 4} : Shape{4, 5}, 1), random64(trans_b ? Shape{3, 5} : Shape{5, 3}, 2)});
      check_rows(f, {random64(trans_a ? Shape{31, 33} : Shape{33, 31}, 1),
                     random64(trans_b ? Shape{17, 31} : Shape{31, 17}, 2)});
    }
  }
}

TEST_CASE("matmul: nothing to multiply, one wanted gradient", "[ops]") {
  const Op f = [](const TensorList& in) { return TensorList{matmul(in[0], in[1])}; };
  check_empty(f, {random64({0, 3}, 1), random64({3, 2}, 2)}, {0, 2});
  check_values(matmul(random64({2, 0}, 1), random64({0, 2}, 2)), {0, 0, 0, 0});
  const Tensor b = from_vector<double>({1, 2, 3, 4}, {2, 2}, exact_device());
  check_gradients([&](const TensorList& in) { return TensorList{matmul(in[0], b)}; }, {random64({3, 2}, 1)});
  check_gradients([&](const TensorList& in) { return TensorList{matmul(b, in[0])}; }, {random64({2, 3}, 1)});
}

// The values of tests/data/matmul.py.
Tensor operand(const Shape& shape, int j) {
  std::vector<double> values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = (static_cast<double>((7 * i + 3 * size_t(j)) % 11) - 5) / 4;
  return leaf64(values, shape);
}

Tensor golden_upstream(const Tensor& y) {
  std::vector<double> values(static_cast<size_t>(y.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = (static_cast<double>(i % 5) - 2) / 2;
  return from_vector(values, y.shape(), exact_device());
}

void check_golden(const nlohmann::json& golden, const Op& f) {
  INFO(golden["shapes"].dump());
  TensorList in;
  for (const auto& shape : golden["shapes"])
    in.push_back(operand(Shape(shape.get<std::vector<int>>()), int(in.size())));
  const Tensor y = f(in)[0];
  CHECK(y.shape() == Shape(golden["shape"].get<std::vector<int>>()));
  check_values(y, golden["y"].get<std::vector<double>>(), 1e-12);
  y.backward(golden_upstream(y));
  for (size_t i = 0; i < in.size(); ++i) {
    INFO("gradient " << i);
    REQUIRE(in[i].grad().defined());
    check_values(in[i].grad(), golden["gradients"][i].get<std::vector<double>>(), 1e-12);
  }
}

TEST_CASE("matmul and linear: as torch", "[ops]") {
  const nlohmann::json golden = load_golden("matmul.json");
  for (const auto& one : golden["matmul"]) {
    check_golden(one, [](const TensorList& in) { return TensorList{matmul(in[0], in[1])}; });
  }
  for (const auto& one : golden["linear"]) {
    check_golden(one, [](const TensorList& in) { return TensorList{linear(in[0], in[1], in[2])}; });
  }
}

TEST_CASE("matmul: batches, transposed and broadcast", "[ops]") {
  struct Case {
    Shape a, b;  // batches
  };
  const std::vector<Case> cases{{{3}, {3}}, {{3}, {}}, {{}, {3}}, {{2, 1}, {1, 3}}, {{2, 1, 2}, {3, 1}}, {{1}, {4}}};
  const auto with = [](const Shape& batch, int rows, int cols, bool trans) {
    std::vector<int> sizes(batch.begin(), batch.end());
    sizes.push_back(trans ? cols : rows);
    sizes.push_back(trans ? rows : cols);
    return Shape(sizes);
  };
  for (const Case& c : cases) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        INFO(c.a.str() << " and " << c.b.str() << ", transposed: " << trans_a << trans_b);
        const Op f = [&](const TensorList& in) { return TensorList{matmul(in[0], in[1], trans_a, trans_b)}; };
        check_op(f, {random64(with(c.a, 2, 3, trans_a), 1), random64(with(c.b, 3, 4, trans_b), 2)});
        check_rows(f, {random64(with(c.a, 33, 31, trans_a), 1), random64(with(c.b, 31, 17, trans_b), 2)});
      }
    }
  }
}

TEST_CASE("bmm", "[ops]") {
  const Op f = [](const TensorList& in) { return TensorList{bmm(in[0], in[1])}; };
  check_op(f, {random64({3, 2, 5}, 1), random64({3, 5, 4}, 2)});
  CHECK_THROWS_WITH(bmm(zeros({3, 2, 5}), zeros({1, 5, 4})),
                    "[bmm] takes as many matrices of each, (N, m, k) and (N, k, n); got (3, 2, 5) and (1, 5, 4)");
  CHECK_THROWS_WITH(bmm(zeros({2, 5}), zeros({1, 5, 4})), Contains("[bmm]"));
}

TEST_CASE("matmul: bad input", "[ops]") {
  const Tensor a = zeros({2, 3}), b = zeros({2, 3});
  CHECK_THROWS_WITH(matmul(a, b), Contains("[matmul]") && Contains("(2, 3) and (2, 3)"));
  CHECK_THROWS_WITH(matmul(a, b, true, true), Contains("transposed"));
  CHECK_THROWS_WITH(matmul(zeros({4}), b), "[matmul] inner sizes must be equal; got (4) and (2, 3)");
  CHECK_THROWS_WITH(matmul(zeros({}), b), Contains("[matmul] operands have a dimension at least; got ()"));
  CHECK_THROWS_WITH(matmul(zeros({2}), b, true), Contains("[matmul] a vector is not transposed"));
  CHECK_THROWS_WITH(matmul(zeros({2, 2, 3}), zeros({4, 3, 2})),
                    "[matmul] the dimensions before the matrices must be equal or 1; got (2, 2, 3) and (4, 3, 2)");
  CHECK_THROWS_WITH(matmul(zeros({0, 3}), zeros({3, 2}, DType::float32, "reference")), Contains("device"));
}

}  // namespace
}  // namespace dnn::test
