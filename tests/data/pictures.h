#pragma once
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <libdnn/data/image.h>

#include "../files.h"

namespace dnn {

inline std::string picture_path(const std::string& name) { return source_path("tests/data/pictures/" + name); }

inline std::string picture_bytes(const std::string& name) {
  std::ifstream file(picture_path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What tests/data/pictures/generate.py found PIL and torchvision to make.
inline const nlohmann::json& expected_pictures() {
  static const nlohmann::json expected = nlohmann::json::parse(std::ifstream(picture_path("expected.json")));
  return expected;
}

constexpr int kPictureHeight = 11, kPictureWidth = 14;

inline Image noise_picture() {
  return {kPictureHeight, kPictureWidth, expected_pictures()["noise"].get<std::vector<uint8_t>>()};
}

inline Image transposed(const Image& image) {
  Image result{image.width, image.height, std::vector<uint8_t>(image.pixels.size())};
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      std::copy_n(image.pixels.begin() + (x * image.width + y) * 3, 3,
                  result.pixels.begin() + (y * result.width + x) * 3);
    }
  }
  return result;
}

}  // namespace dnn
