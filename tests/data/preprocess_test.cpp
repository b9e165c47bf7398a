#include <catch2/catch.hpp>
#include <limits>
#include <map>

#include <libdnn/core/threads.h>
#include <libdnn/data/preprocess.h>
#include <libdnn/data/resize.h>

#include "pictures.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

Interpolation interpolation_of(const nlohmann::json& name) {
  const std::map<std::string, Interpolation> names{
      {"nearest", Interpolation::nearest}, {"bilinear", Interpolation::bilinear}, {"bicubic", Interpolation::bicubic}};
  return names.at(name);
}

std::vector<uint8_t> reds(const Image& image) {
  std::vector<uint8_t> values;
  for (size_t i = 0; i < image.pixels.size(); i += 3) values.push_back(image.pixels[i]);
  return values;
}

Image grey(int height, int width, const std::vector<uint8_t>& values) {
  Image image{height, width, {}};
  for (const uint8_t value : values) image.pixels.insert(image.pixels.end(), 3, value);
  return image;
}

TEST_CASE("preprocess: says what it does", "[preprocess]") {
  CHECK(imagenet_preprocessing().str() ==
        "shorter side to 256 (bilinear), centre 224 x 224, RGB, mean (0.485, 0.456, 0.406), std (0.229, 0.224, 0.225)");
  CHECK(Preprocessing{.bgr = true}.str() == "BGR, mean (0, 0, 0), std (1, 1, 1)");
}

TEST_CASE("resize: by hand", "[preprocess]") {
  const Image line = grey(1, 4, {0, 100, 200, 40});
  // Half the width: the triangle covers four pixels with 1 3 3 1 eighths, cut off and normalised at the edges.
  CHECK(reds(resize(line, 1, 2, Interpolation::bilinear)) ==
        std::vector<uint8_t>{71 /* (0 * 3 + 100 * 3 + 200) / 7 = 71.4 */,
                             117 /* (100 + 200 * 3 + 40 * 3) / 7 = 117.1 */});
  CHECK(reds(resize(line, 1, 2, Interpolation::nearest)) == std::vector<uint8_t>{100, 40});
  // Twice the height: a quarter and three quarters of the neighbours.
  CHECK(reds(resize(grey(2, 1, {0, 100}), 4, 1, Interpolation::bilinear)) == std::vector<uint8_t>{0, 25, 75, 100});
  // Bicubic overshoots a step; pixels end at 0 and 255.
  CHECK(reds(resize(grey(1, 4, {0, 0, 255, 255}), 1, 8, Interpolation::bicubic)) ==
        reds(grey(1, 8, {0, 0, 0, 52 /* 255 * (0.2266 - 0.0234) */, 203, 255, 255, 255})));
}

TEST_CASE("resize: bit for bit as PIL", "[preprocess]") {
  const Image noise = noise_picture();
  for (const auto& entry : expected_pictures()["resize"]) {
    const int height = entry["height"], width = entry["width"];
    INFO(entry["filter"] << " " << height << " x " << width);
    const Image image = resize(noise, height, width, interpolation_of(entry["filter"]));
    CHECK(image.height == height);
    CHECK(image.width == width);
    CHECK(image.pixels == entry["pixels"].get<std::vector<uint8_t>>());
  }
}

TEST_CASE("preprocess: bit for bit as torchvision", "[preprocess]") {
  for (const auto& entry : expected_pictures()["preprocess"]) {
    Preprocessing steps = imagenet_preprocessing();
    steps.resize = entry["resize"];
    steps.interpolation = interpolation_of(entry["filter"]);
    steps.crop_height = entry["crop"][0];
    steps.crop_width = entry["crop"][1];
    INFO(entry["image"] << " " << steps.str());
    const Image image = entry["image"] == "noise" ? noise_picture() : transposed(noise_picture());
    const Tensor x = preprocess(image, steps);
    CHECK(x.shape() == Shape{1, steps.crop_height, steps.crop_width, 3});
    CHECK(x.to_vector<float>() == entry["values"].get<std::vector<float>>());
  }
}

TEST_CASE("preprocess: blue first, and a batch in one tensor on any number of threads", "[preprocess]") {
  const Image one = noise_picture(), other = transposed(one);
  Preprocessing steps{.resize = 8, .crop_height = 7, .crop_width = 6, .mean = {0.1F, 0.2F, 0.3F}};
  const std::vector<Image> images{one, other, one};
  const std::vector<float> batch = preprocess(images, steps).to_vector<float>();
  std::vector<float> singly;
  for (const Image& image : images) {
    const std::vector<float> values = preprocess(image, steps).to_vector<float>();
    singly.insert(singly.end(), values.begin(), values.end());
  }
  CHECK(batch == singly);
  const int threads = num_threads();
  set_num_threads(threads == 1 ? 3 : 1);
  CHECK(preprocess(images, steps).to_vector<float>() == batch);
  set_num_threads(threads);

  steps.bgr = true;
  Preprocessing plain = steps;
  plain.bgr = false;
  plain.mean = {0.3F, 0.2F, 0.1F};
  const std::vector<float> blue = preprocess(one, steps).to_vector<float>(),
                           red = preprocess(one, plain).to_vector<float>();
  bool same = true;
  for (size_t i = 0; i < blue.size(); ++i) same = same && blue[i] == red[i / 3 * 3 + 2 - i % 3];
  CHECK(same);
  CHECK(preprocess(one, {}).shape() == Shape{1, kPictureHeight, kPictureWidth, 3});
}

TEST_CASE("preprocess: one channel of grey", "[preprocess]") {
  const Image image{1, 4, {255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}};
  const Preprocessing steps{.mean = {0.5F, 0, 0}, .std = {0.25F, 1, 1}, .grey = true};
  const Tensor x = preprocess(image, steps);
  CHECK(x.shape() == Shape{1, 1, 4, 1});
  std::vector<float> expected;
  for (const float luma : {76, 150, 29, 18}) expected.push_back((luma / 255 - 0.5F) / 0.25F);
  CHECK(x.to_vector<float>() == expected);
  CHECK(steps.str() == "grey, mean 0.5, std 0.25");
}

TEST_CASE("preprocess: what cannot be done", "[preprocess]") {
  const Image image = noise_picture();
  CHECK_THROWS_WITH(preprocess({image, transposed(image)}, {}), Contains("14 x 11 and 11 x 14"));
  CHECK_THROWS_WITH(preprocess(std::vector<Image>{}, {}), Contains("got none"));
  CHECK_THROWS_WITH(preprocess(image, {.crop_height = 3}), Contains("crop 3 x 0"));
  CHECK_THROWS_WITH(preprocess(image, {.resize = -1}), Contains("resize -1"));
  CHECK_THROWS_WITH(preprocess(image, {.std = {1, 0, 1}}), Contains("(1, 0, 1)"));
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  for (const float wrong : {kNaN, kInfinity, -kInfinity}) {
    CHECK_THROWS_WITH(preprocess(image, {.mean = {0, wrong, 0}}), Contains("finite"));
    CHECK_THROWS_WITH(preprocess(image, {.std = {1, 1, wrong}}), Contains("finite"));
  }
  CHECK_THROWS_WITH(resize({2, 2, {1, 2, 3}}, 1, 1, Interpolation::nearest),
                    Contains("[resize]") && Contains("3 bytes"));
  CHECK_THROWS_WITH(preprocess(image, {.resize = 100000}), Contains("grows beyond"));
  CHECK_THROWS_WITH(preprocess(Image{}, {}), Contains("0 x 0"));
  CHECK_THROWS_WITH(resize(image, 0, 5, Interpolation::bilinear), Contains("5 x 0"));
  CHECK_THROWS_WITH(resize(image, 1 << 20, 1 << 20, Interpolation::nearest), Contains("1048576 x 1048576"));
}

}  // namespace
}  // namespace dnn
