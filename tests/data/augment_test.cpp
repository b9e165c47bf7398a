#include <libdnn/data/augment.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include <kernels/philox.h>
#include <libdnn/data/resize.h>

#include "pictures.h"

namespace dnn {
namespace {

TEST_CASE("augment: a crop is what torchvision makes of the same random numbers", "[augment]") {
  // 100 x 100 pixels, the first try of sample 3 in stream (7, 9) as torchvision's get_params computes it.
  const PhiloxBlock drawn = philox_block({7, 9}, 48);
  const auto uniform = [&](int i) { return static_cast<double>(drawn.word[i] >> 8) / (1 << 24); };
  const double area = 10000 * (0.08 + 0.92 * uniform(0));
  const double ratio = std::exp(std::log(0.75) + (std::log(4.0 / 3) - std::log(0.75)) * uniform(1));
  const int w = static_cast<int>(std::lround(std::sqrt(area * ratio)));
  const int h = static_cast<int>(std::lround(std::sqrt(area / ratio)));
  REQUIRE(w <= 100);
  REQUIRE(h <= 100);
  const RandomCrop crop = draw_crop(100, 100, {}, {7, 9}, 3);
  CHECK(crop.width == w);
  CHECK(crop.height == h);
  CHECK(crop.top == static_cast<int>(std::floor(drawn.word[2] * 0x1p-32 * (100 - h + 1))));
  CHECK(crop.left == static_cast<int>(std::floor(drawn.word[3] * 0x1p-32 * (100 - w + 1))));
  CHECK(crop.flipped == (philox_block({7, 9}, 58).word[0] < 0x80000000));
  CHECK(draw_crop(100, 100, {}, {7, 9}, 3) == crop);
}

TEST_CASE("augment: what makes no sense is an error where it is asked for", "[augment]") {
  using Catch::Matchers::Contains;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const Augmentation& wrong :
       {Augmentation{.least_area = 0}, Augmentation{.least_area = -0.1}, Augmentation{.most_area = 1.5},
        Augmentation{.least_area = kNaN}, Augmentation{.most_area = kNaN},
        Augmentation{.least_area = 0.9, .most_area = 0.8}, Augmentation{.least_ratio = 0},
        Augmentation{.least_ratio = 2, .most_ratio = 1},
        Augmentation{.most_ratio = std::numeric_limits<double>::infinity()}, Augmentation{.flip = -0.1},
        Augmentation{.flip = 1.1}, Augmentation{.flip = kNaN}}) {
    CHECK_THROWS_WITH(draw_crop(10, 10, wrong, {}, 0), Contains("[draw_crop] an augmentation needs"));
  }
  CHECK_THROWS_WITH(draw_crop(0, 10, {}, {}, 0), Contains("got 10 x 0"));
  CHECK_THROWS_WITH(draw_crop(10, -1, {}, {}, 0), Contains("got -1 x 10"));
  CHECK_THROWS_WITH(draw_crop(10, 10, {}, {}, -1), Contains("got -1"));

  const Image image = noise_picture();  // 14 x 11
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const RandomCrop& outside :
       {RandomCrop{-1, 0, 2, 2, false}, RandomCrop{0, -1, 2, 2, false}, RandomCrop{0, 0, 0, 2, false},
        RandomCrop{0, 0, 2, -1, false}, RandomCrop{10, 0, 2, 2, false}, RandomCrop{0, 13, 2, 2, false},
        RandomCrop{kMost, 0, 1, 1, false}, RandomCrop{0, 0, kMost, kMost, false}}) {
    CHECK_THROWS_WITH(cropped(image, outside, 4, 4, Interpolation::bilinear),
                      Contains("must lie in the picture of 14 x 11"));
  }
  CHECK_THROWS_WITH(cropped(image, {0, 0, 2, 2, false}, 0, 4, Interpolation::bilinear), Contains("4 x 0"));
  CHECK_THROWS_WITH(cropped({2, 2, {1, 2, 3}}, {0, 0, 1, 1, false}, 1, 1, Interpolation::nearest), Contains("3 bytes"));
}

TEST_CASE("augment: area, ratio, place and flip have their distributions", "[augment]") {
  constexpr int kCount = 20000, kSide = 300;
  double area = 0, log_ratio = 0, top = 0, flips = 0;
  int within = 0;
  for (int i = 0; i < kCount; ++i) {
    const RandomCrop crop = draw_crop(kSide, kSide, {.most_area = 0.5}, {1, 2}, i);
    REQUIRE(crop.top >= 0);
    REQUIRE(crop.left >= 0);
    REQUIRE(crop.top + crop.height <= kSide);
    REQUIRE(crop.left + crop.width <= kSide);
    const double share = static_cast<double>(crop.height) * crop.width / (kSide * kSide);
    const double ratio = static_cast<double>(crop.width) / crop.height;
    within += share > 0.078 && share < 0.505 && ratio > 0.74 && ratio < 1.35 ? 1 : 0;
    area += share / kCount;
    log_ratio += std::log(ratio) / kCount;
    top += static_cast<double>(crop.top) / (kSide - crop.height) / kCount;
    flips += crop.flipped ? 1.0 / kCount : 0;
  }
  CHECK(within == kCount);
  CHECK(area == Approx(0.29).margin(0.005));
  CHECK(log_ratio == Approx(0).margin(0.005));
  CHECK(top == Approx(0.5).margin(0.01));
  CHECK(flips == Approx(0.5).margin(0.015));
}

TEST_CASE("augment: a picture without a part of the area wanted is cut from its centre", "[augment]") {
  const auto centre = [](int height, int width) {
    RandomCrop crop = draw_crop(height, width, {.least_area = 1, .flip = 0}, {1, 2}, 0);
    return std::array{crop.top, crop.left, crop.height, crop.width};
  };
  CHECK(centre(30, 300) == std::array{0, 130, 30, 40});
  CHECK(centre(300, 30) == std::array{130, 0, 40, 30});
  CHECK(centre(1, 1000) == std::array{0, 499, 1, 1});
  const RandomCrop whole = draw_crop(6, 7, {.least_area = 1, .least_ratio = 1.1, .most_ratio = 1.2}, {1, 2}, 0);
  CHECK(whole.height == 6);
  CHECK(whole.width == 7);
  CHECK(draw_crop(1, 1, {}, {1, 2}, 0).height == 1);
}

TEST_CASE("augment: the part is cut out, resized and mirrored", "[augment]") {
  const Image image = noise_picture();
  const Image part = cropped(image, {2, 3, 4, 5, false}, 4, 5, Interpolation::bilinear);
  const Image mirrored = cropped(image, {2, 3, 4, 5, true}, 4, 5, Interpolation::bilinear);
  const Image larger = cropped(image, {2, 3, 4, 5, false}, 9, 8, Interpolation::bicubic);
  REQUIRE(part.height == 4);
  REQUIRE(part.width == 5);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c) {
        const uint8_t expected = image.pixels[static_cast<size_t>(((y + 2) * image.width + x + 3) * 3 + c)];
        CHECK(part.pixels[static_cast<size_t>((y * 5 + x) * 3 + c)] == expected);
        CHECK(mirrored.pixels[static_cast<size_t>((y * 5 + 4 - x) * 3 + c)] == expected);
      }
    }
  }
  CHECK(larger.pixels == resize(part, 9, 8, Interpolation::bicubic).pixels);
}

}  // namespace
}  // namespace dnn
