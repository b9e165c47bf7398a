#include "ops_test.h"

#include <libdnn/ops/compare.h>
#include <libdnn/ops/where.h>

namespace dnn::test {
namespace {

Tensor mask_on(const Device& device, const std::vector<bool>& values, const Shape& shape) {
  return from_vector<bool>(values, shape, device);
}

TEST_CASE("where op: values and numbers", "[ops]") {
  const Tensor a = leaf64({1, 2, 3, 4}, {2, 2}), b = leaf64({-1, -2}, {2});
  const Tensor mask = mask_on(exact_device(), {true, false}, {2, 1});
  check_values(where(mask, a, b), {1, 2, -1, -2});
  check_values(where(mask, a, 0), {1, 2, 0, 0});
  check_values(where(mask, 9, b), {9, 9, -1, -2});
}

TEST_CASE("where op: gradients and rows", "[ops]") {
  const auto masked = [](const std::vector<bool>& values, const Shape& shape) {
    return
        [=](const TensorList& in) { return TensorList{where(mask_on(in[0].device(), values, shape), in[0], in[1])}; };
  };
  check_op(masked({true, false, true}, {3}), {random64({2, 3}, 1), random64({2, 3}, 2)});
  check_op(masked({true, false}, {2, 1}), {random64({2, 3}, 1), random64({3}, 2)});
  check_op(masked({true, false}, {2, 1, 1}), {random64({1, 3}, 1), random64({5, 1}, 2)});
  check_empty(masked({true}, {1}), {random64({0, 3}, 1), random64({3}, 2)}, {0, 3});
  // A NaN that is not chosen has no gradient.
  const Tensor x = leaf64({1, std::nan("")}, {2});
  where(mask_on(exact_device(), {true, false}, {2}), x, 0).backward(from_vector<double>({5, 6}, {2}, exact_device()));
  check_values(x.grad(), {5, 0});
}

TEST_CASE("where op: bad input", "[ops]") {
  const Tensor a = tensor({1, 2}, {2}), mask = mask_on(default_device(), {true, false}, {2});
  CHECK_THROWS_WITH(where(a, a, a), Contains("[where]") && Contains("bool") && Contains("float32"));
  CHECK_THROWS_WITH(where(mask, a, tensor({1, 2, 3}, {3})), Contains("[where]") && Contains("(3)"));
  CHECK_THROWS_WITH(where(mask_on(default_device(), {true, false, true}, {3}), a, a),
                    Contains("[where]") && Contains("(3)"));
  CHECK_THROWS_WITH(where(mask_on("reference", {true, false}, {2}), a, a),
                    Contains("[where]") && Contains("reference"));
  CHECK_THROWS_WITH(where(mask, mask, mask), Contains("[where]") && Contains("bool"));
}

}  // namespace
}  // namespace dnn::test
