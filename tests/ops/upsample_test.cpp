#include "ops_test.h"

#include <libdnn/ops/upsample.h>

namespace dnn::test {
namespace {

TEST_CASE("upsample ops: values, gradients and rows", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4}, {1, 1, 2, 2});
  check_values(upsample_nearest(x, {1, 3}), {1, 2, 1, 2, 3, 4});
  check_values(upsample_nearest_exact(x, {1, 3}), {1, 2, 3, 4, 3, 4});
  check_values(upsample_bilinear(x, {1, 4}), {1, 2, 1.5, 2.5, 2.5, 3.5, 3, 4});
  check_values(upsample_bilinear(x, {1, 3}, true), {1, 2, 2, 3, 3, 4});
  for (const std::array<int, 2> size : {std::array{8, 12}, {3, 7}, {2, 2}, {4, 6}}) {
    INFO(size[0] << "x" << size[1]);
    const Tensor pictures = random64({2, 4, 6, 3}, 1);
    check_op([&](const TensorList& t) { return TensorList{upsample_nearest(t[0], size)}; }, {pictures});
    check_op([&](const TensorList& t) { return TensorList{upsample_nearest_exact(t[0], size)}; }, {pictures});
    for (const bool align_corners : {false, true}) {
      check_op([&](const TensorList& t) { return TensorList{upsample_bilinear(t[0], size, align_corners)}; },
               {pictures});
    }
  }
}

TEST_CASE("upsample ops: by a factor, as torch has it", "[ops]") {
  const Tensor x = leaf64({1, 2, 4}, {1, 1, 3, 1});
  // 3 * 1.5 = 4.5 gives 4 pixels, from 0, 0.67, 1.33, 2, or centres at -0.17, 0.5, 1.17, 1.83.
  CHECK(upsample_nearest_by(x, {1, 1.5}).shape() == Shape{1, 1, 4, 1});
  check_values(upsample_nearest_by(x, {1, 1.5}), {1, 1, 2, 4});
  check_values(upsample_bilinear_by(x, {1, 1.5}), {1, 1.5, 7.0 / 3, 11.0 / 3});
  check_values(upsample_bilinear_by(x, {1, 1.5}, true), {1, 5.0 / 3, 8.0 / 3, 4});
  // A whole size is as that size.
  check_values(upsample_bilinear_by(x, {1, 2}), values_of(upsample_bilinear(x, {1, 6})));
  check_values(upsample_nearest_by(x, {2, 1}), {1, 2, 4, 1, 2, 4});
  // 3 * 1.2 = 3.6 gives 3 pixels: bilinear copies, nearest takes 0, 0.83, 1.67.
  check_values(upsample_bilinear_by(x, {1, 1.2}), {1, 2, 4});
  check_values(upsample_nearest_by(x, {1, 1.2}), {1, 1, 2});
  const Tensor pictures = random64({2, 4, 7, 3}, 1);
  for (const std::array<double, 2> factor : {std::array{1.3, 2.6}, {0.6, 0.4}, {2.0, 1.1}, {0.5, 3.3}}) {
    INFO(factor[0] << "x" << factor[1]);
    check_op([&](const TensorList& t) { return TensorList{upsample_nearest_by(t[0], factor)}; }, {pictures});
    check_op([&](const TensorList& t) { return TensorList{upsample_nearest_exact_by(t[0], factor)}; }, {pictures});
    for (const bool align_corners : {false, true}) {
      check_op([&](const TensorList& t) { return TensorList{upsample_bilinear_by(t[0], factor, align_corners)}; },
               {pictures});
    }
  }
  CHECK(upsample_nearest_by(zeros({1, 5, 4, 1}, DType::float32, "meta"), {2.5, 0.3}).shape() == Shape{1, 12, 1, 1});
  CHECK_THROWS_WITH(upsample_nearest_by(x, {0, 1}), "[upsample_nearest] scale factors must be above 0; got 0");
  CHECK_THROWS_WITH(upsample_bilinear_by(x, {1, 0.3}), Contains("[upsample_bilinear]") && Contains("got 1x0"));
  CHECK_THROWS_WITH(upsample_bilinear_by(x, {1, 1e10}), Contains("[upsample_bilinear] the result is too large"));
}

TEST_CASE("upsample ops: an empty batch and bad input", "[ops]") {
  const Tensor none = random64({0, 4, 4, 3}, 1);
  const Op nearest = [](const TensorList& t) { return TensorList{upsample_nearest(t[0], {8, 6})}; };
  const Op bilinear = [](const TensorList& t) { return TensorList{upsample_bilinear(t[0], {8, 6})}; };
  for (const Op& f : {nearest, bilinear}) {
    check_empty(f, {none}, {0, 8, 6, 3});
    for (const std::string& row : float_rows()) check_empty(f, {float_copy(none, row)}, {0, 8, 6, 3});
  }
  CHECK_THROWS_WITH(upsample_nearest(zeros({4, 4, 3}), {1, 1}), Contains("[upsample_nearest] x must have 4"));
  CHECK_THROWS_WITH(upsample_bilinear(zeros({1, 4, 4, 3}), {0, 2}), Contains("[upsample_bilinear]") && Contains("0x2"));
}

}  // namespace
}  // namespace dnn::test
