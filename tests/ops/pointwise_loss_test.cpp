#include "ops_test.h"

#include <libdnn/ops/arithmetic.h>
#include <libdnn/ops/pointwise_loss.h>

namespace dnn::test {
namespace {

using Loss = Tensor (*)(const Tensor&, const Tensor&, Reduction);
const std::vector<std::pair<std::string, Loss>> kLosses{
    {"mse_loss", mse_loss},
    {"l1_loss", l1_loss},
    {"smooth_l1_loss", [](const Tensor& x, const Tensor& t, Reduction r) { return smooth_l1_loss(x, t, 0.7, r); }},
    {"binary_cross_entropy_with_logits", binary_cross_entropy_with_logits}};

TEST_CASE("pointwise losses: values", "[ops]") {
  const Tensor x = leaf64({1, 2, -3, 4}, {2, 2}), target = leaf64({1, 0, 0, 0}, {2, 2});
  CHECK(mse_loss(x, target).shape() == Shape{});
  CHECK(mse_loss(x, target).item() == Approx(7.25));
  CHECK(mse_loss(x, target, Reduction::sum).item() == Approx(29));
  CHECK(l1_loss(x, target).item() == Approx(2.25));
  CHECK(smooth_l1_loss(x, target).item() == Approx(1.875));
  CHECK(smooth_l1_loss(x, target, 4, Reduction::sum).item() == Approx(0.5 + 1.125 + 2));
  CHECK(binary_cross_entropy_with_logits(x, target, Reduction::sum).item() == Approx(6.50692675));
}

TEST_CASE("pointwise losses: gradients and rows; the target gets none", "[ops]") {
  const Tensor x = random64({3, 5}, 1), target = random64({3, 5}, 2);
  for (const auto& [name, loss] : kLosses) {
    for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
      INFO(name);
      const Op f = [&, &loss = loss](const TensorList& t) { return TensorList{loss(t[0], t[1], reduction)}; };
      check_op(f, {x, target.detach()});
      check_gradients([&](const TensorList& t) { return TensorList{f(t)[0] * 2.5 + f(t)[0]}; }, {x, target.detach()});
    }
    loss(x, target, Reduction::mean).backward();
    CHECK_FALSE(target.grad().defined());
    CHECK_FALSE(loss(x.detach(), target, Reduction::mean).requires_grad());
  }
}

TEST_CASE("pointwise losses: nothing to compare, and bad input", "[ops]") {
  for (const auto& [name, loss] : kLosses) {
    INFO(name);
    const Tensor none = random64({0, 4}, 1);
    const Tensor empty = loss(none, none.detach(), Reduction::mean);
    CHECK(empty.item() == 0);
    empty.backward();
    CHECK(none.grad().shape() == Shape{0, 4});
    CHECK_THROWS_WITH(loss(zeros({2, 3}), zeros({3}), Reduction::mean),
                      Contains("[" + name + "] target must be (2, 3); got (3)"));
    CHECK_THROWS_WITH(loss(zeros({2}), zeros({2}, DType::float32, "reference"), Reduction::mean),
                      Contains("one device"));
  }
  CHECK_THROWS_WITH(smooth_l1_loss(zeros({2}), zeros({2}), -1), Contains("[smooth_l1_loss] beta") && Contains("-1"));
}

}  // namespace
}  // namespace dnn::test
