#include "ops_test.h"

#include <libdnn/ops/upsample.h>

namespace dnn::test {
namespace {

TEST_CASE("upsample ops: values, gradients and rows", "[ops]") {
  const Tensor x = leaf64({1, 2, 3, 4}, {1, 1, 2, 2});
  check_values(upsample_nearest(x, {1, 3}), {1, 2, 1, 2, 3, 4});
  check_values(upsample_bilinear(x, {1, 4}), {1, 2, 1.5, 2.5, 2.5, 3.5, 3, 4});
  check_values(upsample_bilinear(x, {1, 3}, true), {1, 2, 2, 3, 3, 4});
  for (const std::array<int, 2> size : {std::array{8, 12}, {3, 7}, {2, 2}, {4, 6}}) {
    INFO(size[0] << "x" << size[1]);
    const Tensor pictures = random64({2, 4, 6, 3}, 1);
    check_op([&](const TensorList& t) { return TensorList{upsample_nearest(t[0], size)}; }, {pictures});
    for (const bool align_corners : {false, true}) {
      check_op([&](const TensorList& t) { return TensorList{upsample_bilinear(t[0], size, align_corners)}; },
               {pictures});
    }
  }
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
