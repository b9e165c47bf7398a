#include "ops_test.h"

#include <libdnn/ops/pool2d.h>

namespace dnn::test {
namespace {

Tensor counting() {  // 1, 2, ..., 16
  std::vector<double> values(16);
  for (size_t i = 0; i < 16; ++i) values[i] = static_cast<double>(i + 1);
  return leaf64(values, {1, 4, 4, 1});
}

TEST_CASE("pooling op: values", "[ops]") {
  const Tensor x = counting();
  check_values(max_pool2d(x, {.window = {2, 2}}), {6, 8, 14, 16});
  check_values(avg_pool2d(x, {.window = {2, 2}}), {3.5, 5.5, 11.5, 13.5});
  check_values(max_pool2d(x, {.window = {3, 3}, .stride = {2, 2}, .ceil_mode = true}), {11, 12, 15, 16});
  check_values(max_pool2d(x, {.window = {3, 3}, .stride = {2, 2}}), {11});
  check_values(avg_pool2d(x, {.window = {3, 3}, .stride = {2, 2}, .ceil_mode = true}), {6, 7.5, 12, 13.5});
  const Pool2dOptions excluding{
      .window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .ceil_mode = true, .count_include_pad = false};
  check_values(avg_pool2d(x, excluding), {3.5, 5, 6, 9.5, 11, 12, 13.5, 15, 16});
  const Pool2dOptions beyond{.window = {5, 5}, .stride = {2, 2}, .ceil_mode = true};  // one window, all of x
  check_values(max_pool2d(x, beyond), {16});
  check_values(avg_pool2d(x, beyond), {8.5});
  const Tensor negative = leaf64({-1, -2, -3, -3, -4, -5, -2, -3, -6}, {1, 3, 3, 1});
  check_values(max_pool2d(negative, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}}), {-1, -2, -2, -3});
  const Tensor one = leaf64(std::vector<double>(36, 1), {1, 6, 6, 1});
  const Pool2dOptions sparse{.window = {1, 1}, .stride = {2, 2}, .ceil_mode = true};
  CHECK(max_pool2d(one, sparse).shape() == Shape{1, 3, 3, 1});
  check_values(avg_pool2d(one, sparse), std::vector<double>(9, 1));
}

TEST_CASE("pooling op: gradient by hand", "[ops]") {
  const Tensor x = counting();
  max_pool2d(x, {.window = {3, 3}, .stride = {1, 1}}).backward(leaf64({1, 2, 3, 4}, {1, 2, 2, 1}).detach());
  check_values(x.grad(), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4});
}

TEST_CASE("pooling op: gradients and rows", "[ops]") {
  const std::vector<Pool2dOptions> choices{
      {.window = {2, 2}},
      {.window = {3, 3}, .stride = {2, 2}, .ceil_mode = true},
      {.window = {3, 2}, .stride = {1, 2}, .padding = {1, 0, 2, 1}},
      {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .ceil_mode = true, .count_include_pad = false},
  };
  for (size_t i = 0; i < choices.size(); ++i) {
    INFO("choice " << i);
    const Tensor x = random64({2, 7, 6, 3}, 1), wide = random64({1, 9, 8, 17}, 2);
    const Op largest = [&](const TensorList& t) { return TensorList{max_pool2d(t[0], choices[i])}; };
    const Op average = [&](const TensorList& t) { return TensorList{avg_pool2d(t[0], choices[i])}; };
    check_op(largest, {x});
    check_op(average, {x});
    check_rows(largest, {wide});
    check_rows(average, {wide});
  }
}

TEST_CASE("pooling op: the largest with a dilation", "[ops]") {
  const Tensor x = counting();
  check_values(max_pool2d(x, {.window = {2, 2}, .stride = {1, 1}, .dilation = {2, 2}}), {11, 12, 15, 16});
  CHECK(
      max_pool2d(zeros({1, 9, 8, 1}, DType::float32, "meta"), {.window = {3, 2}, .stride = {2, 2}, .dilation = {2, 3}})
          .shape() == Shape{1, 3, 3, 1});
  // 9 + 2 - 2 * 2 - 1 = 6 places of stride 4: 2 windows, or rounded up 3, the last of which begins in the picture.
  Pool2dOptions options{.window = {3, 3}, .stride = {4, 4}, .padding = {1, 1, 1, 1}, .dilation = {2, 2}};
  CHECK(max_pool2d(zeros({1, 9, 9, 1}), options).shape() == Shape{1, 2, 2, 1});
  options.ceil_mode = true;
  CHECK(max_pool2d(zeros({1, 9, 9, 1}), options).shape() == Shape{1, 3, 3, 1});
  const std::vector<Pool2dOptions> choices{
      {.window = {2, 2}, .dilation = {2, 2}},
      {.window = {3, 2}, .stride = {1, 2}, .padding = {1, 0, 2, 1}, .dilation = {1, 3}},
      {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .dilation = {2, 2}, .ceil_mode = true},
  };
  for (size_t i = 0; i < choices.size(); ++i) {
    INFO("choice " << i);
    check_op([&](const TensorList& t) { return TensorList{max_pool2d(t[0], choices[i])}; },
             {random64({2, 7, 6, 3}, 1)});
  }
  CHECK_THROWS_WITH(max_pool2d(x, {.window = {3, 3}, .dilation = {2, 1}}),
                    Contains("[max_pool2d]") && Contains("window 5"));
  CHECK_THROWS_WITH(max_pool2d(x, {.window = {2, 2}, .dilation = {0, 1}}), Contains("dilation") && Contains("0x1"));
  CHECK_THROWS_WITH(max_pool2d(x, {.window = {2, 2}, .dilation = {1 << 30, 4}}), Contains("[max_pool2d]"));
  CHECK_THROWS_WITH(max_pool2d(x, {.window = {9, 9}, .dilation = {1 << 30, 4}}), Contains("dilation is too large"));
  CHECK_THROWS_WITH(avg_pool2d(x, {.window = {2, 2}, .dilation = {2, 1}}), "[avg_pool2d] has no dilation; got 2x1");
}

TEST_CASE("pooling op: a window of more than 256 cells", "[ops]") {
  const Pool2dOptions options{.window = {17, 16}, .stride = {1, 1}};
  const Op f = [&](const TensorList& t) { return TensorList{max_pool2d(t[0], options)}; };
  const Tensor x = random64({1, 18, 17, 2}, 1);
  check_op(f, {x});
}

TEST_CASE("pooling op: an empty batch", "[ops]") {
  const Tensor x = random64({0, 4, 4, 3}, 1);
  check_empty([](const TensorList& t) { return TensorList{max_pool2d(t[0], {.window = {2, 2}})}; }, {x}, {0, 2, 2, 3});
  check_empty([](const TensorList& t) { return TensorList{avg_pool2d(t[0], {.window = {2, 2}})}; }, {x}, {0, 2, 2, 3});
}

TEST_CASE("pooling op: bad input", "[ops]") {
  const Tensor x = zeros({1, 4, 4, 3});
  CHECK_THROWS_WITH(max_pool2d(zeros({4, 4, 3}), {.window = {2, 2}}), Contains("[max_pool2d] x must have 4"));
  CHECK_THROWS_WITH(avg_pool2d(x, {.window = {2, 2}, .padding = {2, 0, 0, 0}}),
                    Contains("[avg_pool2d]") && Contains("top 2"));
  CHECK_THROWS_WITH(max_pool2d(x, {.window = {5, 2}}), Contains("[max_pool2d]") && Contains("height"));
  CHECK_THROWS_WITH(max_pool2d(x, {.window = {0, 2}, .stride = {1, 1}}), Contains("[max_pool2d]") && Contains("0x2"));
  CHECK_THROWS_WITH(max_pool2d(x, {.window = {2, 2}, .stride = {-1, 1}}), Contains("[max_pool2d]") && Contains("-1x1"));
}

}  // namespace
}  // namespace dnn::test
