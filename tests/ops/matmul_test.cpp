#include "ops_test.h"

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

TEST_CASE("matmul: bad input", "[ops]") {
  const Tensor a = zeros({2, 3}), b = zeros({2, 3});
  CHECK_THROWS_WITH(matmul(a, b), Contains("[matmul]") && Contains("(2, 3) and (2, 3)"));
  CHECK_THROWS_WITH(matmul(a, b, true, true), Contains("transposed"));
  CHECK_THROWS_WITH(matmul(zeros({3}), b), Contains("[matmul] a must have 2 dimensions; got (3)"));
}

}  // namespace
}  // namespace dnn::test
