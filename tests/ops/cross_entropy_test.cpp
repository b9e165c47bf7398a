#include "ops_test.h"

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/cross_entropy.h>

namespace dnn::test {
namespace {

Tensor labels_on(const std::string& device, const std::vector<int32_t>& labels) {
  return from_vector(labels, {static_cast<int>(labels.size())}, device);
}

TEST_CASE("cross_entropy: values that broke others", "[ops]") {
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  for (const std::string& row : rows) {
    INFO(row);
    const auto loss = [&](const std::vector<float>& logits, int label) {
      const Tensor x = tensor(logits, {1, static_cast<int>(logits.size())}, row);
      return cross_entropy(x, labels_on(row, {label})).item();
    };
    CHECK(loss({1000, 0, -1000}, 1) == 1000);
    CHECK(loss({-1000, -1000, -1001}, 2) == Approx(1.861995));
    CHECK(loss(std::vector<float>(10, 0), 3) == Approx(2.302585));
    CHECK(loss({1000, 0}, 0) == 0);
  }
}

TEST_CASE("cross_entropy: gradient by hand, rows of it sum to 0, an ignored label counts nowhere", "[ops]") {
  const Tensor x = leaf64({0, std::log(3.0), 5, 7, 0, 0}, {3, 2});
  const Tensor loss = cross_entropy(x, labels_on(exact_device(), {1, -100, 0}));
  CHECK(loss.shape() == Shape{});
  CHECK(loss.item() == Approx((-std::log(0.75) + std::log(2.0)) / 2));
  loss.backward();
  check_values(x.grad(), {0.125, -0.125, 0, 0, -0.25, 0.25});
  x.set_grad(Tensor());
  (cross_entropy(x, labels_on(exact_device(), {1, 7, 0}), {.ignore_label = 7}) * 4.0).backward();
  check_values(x.grad(), {0.5, -0.5, 0, 0, -1, 1});
}

TEST_CASE("cross_entropy: all of the target smoothed", "[ops]") {
  const Tensor x = leaf64({0, std::log(3.0)}, {1, 2}), labels = labels_on(exact_device(), {1});
  CHECK(cross_entropy(x, labels, {.label_smoothing = 1}).item() == Approx(-(std::log(0.25) + std::log(0.75)) / 2));
  CHECK_THROWS_WITH(cross_entropy(x, labels, {.label_smoothing = 1.01}), Contains("from 0 to 1; got 1.01"));
}

TEST_CASE("cross_entropy and nll_loss: the sum", "[ops]") {
  const Tensor x = leaf64({0, std::log(3.0), 5, 7, 0, 0}, {3, 2}), labels = labels_on(exact_device(), {1, -100, 0});
  const Tensor loss = cross_entropy(x, labels, {.reduction = Reduction::sum});
  CHECK(loss.item() == Approx(-std::log(0.75) + std::log(2.0)));
  loss.backward();
  check_values(x.grad(), {0.25, -0.25, 0, 0, -0.5, 0.5});
  x.set_grad(Tensor());
  const Tensor likelihood = nll_loss(x, labels, {.reduction = Reduction::sum});
  CHECK(likelihood.item() == Approx(-std::log(3.0)));
  likelihood.backward();
  check_values(x.grad(), {0, -1, 0, 0, -1, 0});
}

TEST_CASE("cross_entropy and nll_loss: a label for each pixel", "[ops]") {
  const Tensor x = random64({2, 3, 5, 4}, 1);
  std::vector<int32_t> labels;
  for (int i = 0; i < 30; ++i) labels.push_back(i % 7 == 3 ? -100 : i * 5 % 4);
  const Tensor pixels = from_vector(labels, {2, 3, 5}, exact_device()), flat = pixels.reshape({30});
  CHECK(cross_entropy(x, pixels).item() == cross_entropy(x.reshape({30, 4}), flat).item());
  CHECK(nll_loss(x, pixels).item() == nll_loss(x.reshape({30, 4}), flat).item());
  check_gradients([&](const TensorList& t) { return TensorList{cross_entropy(t[0], pixels)}; }, {x});
  check_gradients([&](const TensorList& t) { return TensorList{nll_loss(t[0], pixels)}; }, {x});
  CHECK_THROWS_WITH(cross_entropy(x, flat), "[cross_entropy] labels must be (2, 3, 5); got (30)");
}

TEST_CASE("cross_entropy: gradients and rows", "[ops]") {
  for (const int classes : {1, 2, 10, 33}) {
    INFO(classes << " classes");
    const std::vector<int32_t> labels{0, classes - 1, -100, classes / 2, 0};
    const Op f = [&](const TensorList& t) {
      return TensorList{cross_entropy(t[0], labels_on(t[0].device().name(), labels))};
    };
    const Tensor x = random64({5, classes}, 1);
    check_rows(f, {x});
    if (classes == 1) continue;  // the loss is always 0
    check_gradients(f, {x});
    check_gradients([&](const TensorList& t) { return TensorList{f(t)[0] * 2.5 + f(t)[0]}; }, {x});
  }
}

TEST_CASE("cross_entropy: nothing counts", "[ops]") {
  const Tensor x = leaf64({1, 2}, {1, 2});
  const Tensor loss = cross_entropy(x, labels_on(exact_device(), {-100}));
  CHECK(loss.item() == 0);
  loss.backward();
  check_values(x.grad(), {0, 0});
  const Tensor none = random64({0, 4}, 1);
  const Tensor empty = cross_entropy(none, labels_on(exact_device(), {}));
  CHECK(empty.item() == 0);
  empty.backward();
  CHECK(none.grad().shape() == Shape{0, 4});
}

TEST_CASE("cross_entropy: a bad label is refused on every row", "[ops]") {
  std::vector<std::string> rows = float_rows();
  rows.push_back("reference");
  for (const std::string& row : rows) {
    INFO(row);
    Tensor x = zeros({5, 10}, DType::float32, row).requires_grad(true);
    CHECK_THROWS_WITH(cross_entropy(x, labels_on(row, {1, 2, 9, 12, -5})).item(),
                      Contains("[cross_entropy] label 12 of sample 3 is outside 0..9"));
    CHECK_THROWS_WITH(cross_entropy(x.detach(), labels_on(row, {1, -1, 0, 0, 0})).item(),
                      Contains("label -1 of sample 1"));
    CHECK_THROWS_WITH(cross_entropy(x, labels_on(row, {1, 2, 3, -100, 5}), {.ignore_label = -1}).item(),
                      Contains("label -100 of sample 3"));
  }
}

TEST_CASE("cross_entropy: bad input", "[ops]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(cross_entropy(zeros({3}), labels_on("cpu", {1})),
                    "[cross_entropy] logits must be (N, ..., classes); got (3)");
  CHECK_THROWS_WITH(cross_entropy(x, labels_on("cpu", {1})), Contains("[cross_entropy] labels must be (2); got (1)"));
  CHECK_THROWS_WITH(cross_entropy(x, zeros({2})),
                    Contains("[cross_entropy] labels must be int32 or int64; got float32"));
  CHECK_THROWS_WITH(cross_entropy(x, labels_on("reference", {1, 1})), Contains("one device"));
  CHECK_THROWS_WITH(cross_entropy(zeros({2, 0}), labels_on("cpu", {0, 0})), Contains("[cross_entropy]"));
}

}  // namespace
}  // namespace dnn::test
