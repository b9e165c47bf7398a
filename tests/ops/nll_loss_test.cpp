#include "ops_test.h"

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/cross_entropy.h>
#include <libdnn/ops/softmax.h>

namespace dnn::test {
namespace {

Tensor labels_on(const Device& device, const std::vector<int32_t>& labels) {
  return from_vector(labels, {static_cast<int>(labels.size())}, device);
}

TEST_CASE("nll_loss op: gradients and rows", "[ops]") {
  const std::vector<int32_t> labels{0, 6, -100, 3, 0};
  const Tensor x = random64({5, 7}, 1), weights = rand({7}, 0.5, 2, DType::float64, exact_device());
  const Op plain = [&](const TensorList& t) { return TensorList{nll_loss(t[0], labels_on(t[0].device(), labels))}; };
  check_op(plain, {x});
  check_gradients([&](const TensorList& t) { return TensorList{plain(t)[0] * 2.5 + plain(t)[0]}; }, {x});
  check_op(
      [&](const TensorList& t) {
        return TensorList{nll_loss(t[0], labels_on(t[0].device(), labels), {.class_weights = t[1]})};
      },
      {x, weights});
}

TEST_CASE("nll_loss op: of log_softmax it is cross_entropy", "[ops]") {
  const Tensor x = random64({4, 6}, 1), labels = labels_on(exact_device(), {5, 0, 2, 2});
  const Tensor weights = rand({6}, 0.5, 2, DType::float64, exact_device());
  const Tensor loss = nll_loss(log_softmax(x), labels, {.ignore_label = 0, .class_weights = weights});
  loss.backward();
  const std::vector<double> grad = values_of(x.grad());
  x.set_grad(Tensor());
  const Tensor expected = cross_entropy(x, labels, {.ignore_label = 0, .class_weights = weights});
  expected.backward();
  CHECK(loss.item() == Approx(expected.item()));
  check_values(x.grad(), grad);
}

TEST_CASE("nll_loss op: nothing counts, and bad input", "[ops]") {
  const Tensor x = leaf64({-1, -2}, {1, 2});
  const Tensor loss = nll_loss(x, labels_on(exact_device(), {-100}));
  CHECK(loss.item() == 0);
  loss.backward();
  check_values(x.grad(), {0, 0});
  const Tensor none = random64({0, 4}, 1);
  nll_loss(none, labels_on(exact_device(), {})).backward();
  CHECK(none.grad().shape() == Shape{0, 4});
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  for (const std::string& row : rows) {
    INFO(row);
    CHECK_THROWS_WITH(nll_loss(zeros({3, 10}, DType::float32, row), labels_on(row, {1, -7, 12})).item(),
                      Contains("[nll_loss] label -7 of sample 1 is outside 0..9"));
  }
  const Tensor two = zeros({2, 3});
  CHECK_THROWS_WITH(nll_loss(zeros({3}), labels_on("cpu", {1})),
                    "[nll_loss] log_probabilities must be (N, ..., classes); got (3)");
  CHECK_THROWS_WITH(nll_loss(two, labels_on("cpu", {1})), Contains("[nll_loss] labels must be (2); got (1)"));
  CHECK_THROWS_WITH(nll_loss(two, zeros({2})), Contains("[nll_loss] labels must be int32 or int64; got float32"));
  CHECK_THROWS_WITH(nll_loss(two, labels_on(two.device(), {1, 1}), {.class_weights = zeros({2})}),
                    Contains("[nll_loss] class_weights must be (3); got (2)"));
}

}  // namespace
}  // namespace dnn::test
