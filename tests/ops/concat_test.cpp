#include "ops_test.h"

#include <libdnn/ops/concat.h>

namespace dnn::test {
namespace {

TEST_CASE("concat: values", "[ops]") {
  const Tensor a = leaf64({1, 2, 3, 4}, {2, 2}), b = leaf64({5, 6}, {2, 1});
  CHECK(concat({a, b}, 1).shape() == Shape{2, 3});
  check_values(concat({a, b}, 1), {1, 2, 5, 3, 4, 6});
  check_values(concat({a, leaf64({7, 8}, {1, 2})}, 0), {1, 2, 3, 4, 7, 8});
  check_values(concat({a}, -1), {1, 2, 3, 4});
}

TEST_CASE("concat and split: gradients and rows", "[ops]") {
  for (const int dim : {0, 1, 2, 3}) {
    INFO("dimension " << dim);
    TensorList parts;
    for (const int size : {3, 1, 0, 9}) {
      std::vector<int> sizes{2, 3, 2, 5};
      sizes[static_cast<size_t>(dim)] = size;
      parts.push_back(random64(Shape(sizes), static_cast<uint32_t>(size)));
    }
    check_op([&](const TensorList& t) { return TensorList{concat(t, dim)}; }, parts);
    const Tensor whole = concat(parts, dim).detach().requires_grad(true);
    check_op([&](const TensorList& t) { return split(t[0], {3, 1, 0, 9}, dim); }, {whole});
    const TensorList again = split(whole, {3, 1, 0, 9}, dim);
    for (size_t i = 0; i < parts.size(); ++i) {
      CHECK(again[i].shape() == parts[i].shape());
      check_values(again[i], values_of(parts[i]));
    }
  }
}

TEST_CASE("split: a part that nothing uses has gradient 0", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4, 5, 6}, {2, 3});
  split(x, {1, 2}, 1)[1].backward(leaf64({1, 2, 3, 4}, {2, 2}).detach());
  check_values(x.grad(), {0, 1, 2, 0, 3, 4});
}

TEST_CASE("concat: an empty batch", "[ops]") {
  const Op f = [](const TensorList& t) { return TensorList{concat(t, -1)}; };
  check_empty(f, {random64({0, 2, 2, 3}, 1), random64({0, 2, 2, 4}, 2)}, {0, 2, 2, 7});
}

TEST_CASE("concat: bad input", "[ops]") {
  const Tensor a = zeros({2, 3});
  CHECK_THROWS_WITH(concat({}, 0), Contains("[concat]"));
  CHECK_THROWS_WITH(concat({a, zeros({3, 2})}, 0), Contains("[concat]") && Contains("(3, 2)"));
  CHECK_THROWS_WITH(concat({a, zeros({2})}, 0), Contains("[concat]") && Contains("(2)"));
  CHECK_THROWS_WITH(concat({a, zeros({2, 3}, DType::float32, "reference")}, 0),
                    Contains("[concat]") && Contains("device"));
  CHECK_THROWS_WITH(concat({a}, 2), Contains("no dimension 2"));
  CHECK_THROWS_WITH(split(zeros({2, 3}), {1}, 1), Contains("[split] sizes must add up to 3"));
  CHECK_THROWS_WITH(split(a, {1, 1}, 1), Contains("[split]") && Contains("add up to 3") && Contains("1, 1"));
}

}  // namespace
}  // namespace dnn::test
