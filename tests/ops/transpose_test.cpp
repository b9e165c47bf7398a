#include "ops_test.h"

#include <libdnn/ops/transpose.h>

namespace dnn::test {
namespace {

TEST_CASE("transpose: values", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(transpose(x, {1, 0}).shape() == Shape{3, 2});
  check_values(transpose(x, {1, 0}), {1, 4, 2, 5, 3, 6});
  const Tensor picture = leaf64({1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60}, {1, 2, 3, 2});
  CHECK(nhwc_to_nchw(picture).shape() == Shape{1, 2, 2, 3});
  check_values(nhwc_to_nchw(picture), {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  check_values(nchw_to_nhwc(nhwc_to_nchw(picture)), values_of(picture));
}

// y[i0, i1, ...] = x[j0, j1, ...] with j[axes[d]] = i[d], element by element.
std::vector<double> expected(const Tensor& x, const std::vector<int>& axes) {
  const std::vector<double> from = values_of(x);
  std::vector<double> to;
  const int dims = x.dims();
  std::vector<int64_t> step(static_cast<size_t>(dims), 1);
  for (int d = dims - 2; d >= 0; --d) step[d] = step[d + 1] * x.size(d + 1);
  std::vector<int> at(static_cast<size_t>(dims), 0);
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t offset = 0;
    for (int d = 0; d < dims; ++d) offset += at[d] * step[axes[d]];
    to.push_back(from[static_cast<size_t>(offset)]);
    for (int d = dims - 1; d >= 0 && ++at[d] == x.size(axes[d]); --d) at[d] = 0;
  }
  return to;
}

TEST_CASE("transpose: all orders, gradients, rows", "[ops]") {
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{1, 3, 1, 5}, Shape{2, 1, 4, 1}, Shape{33, 2, 1, 17}}) {
    std::vector<int> axes{0, 1, 2, 3};
    do {
      INFO(shape.str() << " by " << axes[0] << axes[1] << axes[2] << axes[3]);
      const Tensor x = random64(shape, 1);
      check_values(transpose(x, axes), expected(x, axes));
      check_rows([&](const TensorList& t) { return TensorList{transpose(t[0], axes)}; }, {x});
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
  check_gradients([](const TensorList& t) { return TensorList{transpose(t[0], {2, 0, 1})}; }, {random64({2, 3, 4}, 1)});
  check_gradients([](const TensorList& t) { return TensorList{nhwc_to_nchw(t[0])}; }, {random64({2, 1, 1, 4}, 1)});
  const Tensor six = random64({2, 3, 2, 1, 3, 2}, 2);
  check_values(transpose(six, {5, 2, 3, 0, 4, 1}), expected(six, {5, 2, 3, 0, 4, 1}));
}

TEST_CASE("transpose: elements whose order stays are shared", "[ops]") {
  const Tensor x = random64({2, 1, 1, 4}, 1);
  CHECK(nhwc_to_nchw(x).data<double>() == x.data<double>());
  CHECK(transpose(x, {0, 1, 2, 3}).data<double>() == x.data<double>());
  CHECK(transpose(leaf64({1}, {}), {}).shape() == Shape{});
}

TEST_CASE("transpose: an empty batch", "[ops]") {
  const Op f = [](const TensorList& t) { return TensorList{nhwc_to_nchw(t[0])}; };
  check_empty(f, {random64({0, 4, 5, 3}, 1)}, {0, 3, 4, 5});
}

TEST_CASE("transpose: bad input", "[ops]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(transpose(x, {0}), Contains("[transpose]") && Contains("(2, 3)"));
  CHECK_THROWS_WITH(transpose(x, {0, 0}), Contains("[transpose]") && Contains("0 at 1"));
  CHECK_THROWS_WITH(transpose(x, {0, 2}), Contains("[transpose]") && Contains("2 at 1"));
  CHECK_THROWS_WITH(nchw_to_nhwc(x), Contains("[nchw_to_nhwc] x must have 4"));
}

}  // namespace
}  // namespace dnn::test
