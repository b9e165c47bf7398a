#include "ops_test.h"

#include <libdnn/ops/softmax.h>

namespace dnn::test {
namespace {

TEST_CASE("softmax op: values", "[ops]") {
  const Tensor x = leaf64({0, std::log(3.0), 1000, 1000}, {2, 2});
  check_values(softmax(x), {0.25, 0.75, 0.5, 0.5});
  check_values(log_softmax(x), {std::log(0.25), std::log(0.75), std::log(0.5), std::log(0.5)});
}

TEST_CASE("softmax op: gradients and rows", "[ops]") {
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 9}, Shape{7}, Shape{5, 33}}) {
    INFO(shape.str());
    const Tensor x = random64(shape, 1);
    check_op([](const TensorList& t) { return TensorList{softmax(t[0])}; }, {x});
    check_op([](const TensorList& t) { return TensorList{log_softmax(t[0])}; }, {x});
  }
}

TEST_CASE("softmax op: along any dimension", "[ops]") {
  const Tensor x = leaf64({0, 1000, std::log(3.0), 1000}, {2, 2});
  check_values(softmax(x, 0), {0.25, 0.5, 0.75, 0.5});
  check_values(log_softmax(x, -2), {std::log(0.25), std::log(0.5), std::log(0.75), std::log(0.5)});
  const Tensor y = random64({2, 3, 4, 5}, 2);
  for (int dim = -4; dim < 4; ++dim) {
    INFO(dim);
    check_op([dim](const TensorList& t) { return TensorList{softmax(t[0], dim)}; }, {y});
    check_op([dim](const TensorList& t) { return TensorList{log_softmax(t[0], dim)}; }, {y});
  }
}

TEST_CASE("softmax op: an empty batch, bad input", "[ops]") {
  check_empty([](const TensorList& t) { return TensorList{softmax(t[0])}; }, {random64({0, 3}, 1)}, {0, 3});
  check_empty([](const TensorList& t) { return TensorList{log_softmax(t[0])}; }, {random64({0, 3}, 1)}, {0, 3});
  CHECK_THROWS_WITH(softmax(zeros({2, 0})), Contains("[softmax]") && Contains("(2, 0)"));
  CHECK_THROWS_WITH(log_softmax(zeros({})), Contains("[log_softmax]"));
  CHECK_THROWS_WITH(softmax(zeros({2, 3}), 2), "[softmax] there is no dimension 2; got the shape (2, 3)");
  CHECK_THROWS_WITH(softmax(zeros({2, 0, 3}), 1), Contains("along dimension 1; got (2, 0, 3)"));
  check_empty([](const TensorList& t) { return TensorList{softmax(t[0], 1)}; }, {random64({2, 3, 0}, 1)}, {2, 3, 0});
}

}  // namespace
}  // namespace dnn::test
