#include <catch2/catch.hpp>

#include <libdnn/layers/pool2d.h>

#include "layers_test.h"

namespace dnn {
namespace {

TEST_CASE("MaxPool2d, AvgPool2d: by hand", "[layers]") {
  const test::DefaultDevice on("reference");
  CHECK(test::names_and_shapes(MaxPool2d(2)).empty());
  std::vector<float> count(16);
  for (size_t i = 0; i < 16; ++i) count[i] = static_cast<float>(i + 1);
  const Tensor picture = tensor(count, {1, 4, 4, 1});
  MaxPool2d max({.kernel_size = 3, .stride = 2, .ceil_mode = true});
  CHECK(max(picture).to_vector<float>() == std::vector<float>{11, 12, 15, 16});
  AvgPool2d avg({.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
  CHECK(avg(picture).to_vector<float>() == std::vector<float>{3.5, 5, 6, 9.5, 11, 12, 13.5, 15, 16});
  MaxPool2d halves(2);
  CHECK(halves(picture).to_vector<float>() == std::vector<float>{6, 8, 14, 16});
  AvgPool2d quarters(2, 2);
  CHECK(quarters(picture).to_vector<float>() == std::vector<float>{3.5, 5.5, 11.5, 13.5});
}

}  // namespace
}  // namespace dnn
