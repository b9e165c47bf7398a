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

// A BMP file of 24 bits a pixel: rows from the bottom up, blue first, each padded to four bytes.
inline std::string bmp_bytes(const Image& image) {
  const int padding = (4 - image.width * 3 % 4) % 4;
  std::string bytes = "BM";
  const auto number = [&](int value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i);
  };
  number(54 + (image.width * 3 + padding) * image.height, 4);
  number(0, 4);
  number(54, 4);
  number(40, 4);
  number(image.width, 4);
  number(image.height, 4);
  number(1, 2);
  number(24, 2);
  for (int i = 0; i < 6; ++i) number(0, 4);
  for (int y = image.height - 1; y >= 0; --y) {
    for (int x = 0; x < image.width; ++x) {
      const uint8_t* pixel = &image.pixels[static_cast<size_t>((y * image.width + x) * 3)];
      for (int c = 2; c >= 0; --c) bytes += static_cast<char>(pixel[c]);
    }
    bytes.append(static_cast<size_t>(padding), '\0');
  }
  return bytes;
}

// One colour all over.
inline Image plain_picture(int height, int width, uint8_t red, uint8_t green, uint8_t blue) {
  Image image{height, width, {}};
  for (int i = 0; i < height * width; ++i) image.pixels.insert(image.pixels.end(), {red, green, blue});
  return image;
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
