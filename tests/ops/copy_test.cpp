#include "ops_test.h"

namespace dnn::test {
namespace {

TEST_CASE("clone: own elements, the gradient goes back", "[ops]") {
  const Tensor x = random64({2, 3}, 1), y = x.clone();
  CHECK(y.data<double>() != x.data<double>());
  check_values(y, values_of(x));
  check_op([](const TensorList& t) { return TensorList{t[0].clone()}; }, {x});
  check_empty([](const TensorList& t) { return TensorList{t[0].clone()}; }, {random64({0, 3}, 1)}, {0, 3});
  CHECK(from_vector<int32_t>({1, 2}, {2}).clone().to_vector<int32_t>() == std::vector<int32_t>{1, 2});
}

TEST_CASE("to: another device, the gradient comes back", "[ops]") {
  const Tensor x = random64({2, 3}, 1);
  check_gradients([](const TensorList& t) { return TensorList{t[0].to("cpu").to("reference")}; }, {x});
  const Tensor y = tensor({1, 2}, {2}, "reference").requires_grad(true);
  y.to("cpu").backward(tensor({3, 4}, {2}, "cpu"));
  CHECK(y.grad().device() == Device("reference"));
  check_values(y.grad(), {3, 4});
  CHECK(y.to("reference").impl() == y.impl());
  CHECK_THROWS_WITH(y.to("nowhere"), Contains("nowhere"));
}

}  // namespace
}  // namespace dnn::test
