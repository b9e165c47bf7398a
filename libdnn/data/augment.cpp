#include <libdnn/data/augment.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <kernels/philox.h>
#include <libdnn/data/resize.h>

namespace dnn {
namespace {

// Sample i has the blocks 16 i to 16 i + 15 of the stream: one for each try, then one for the flip.
constexpr int kTries = 10, kBlocks = 16;

double between(double low, double high, uint32_t word) { return low + (high - low) * double{philox_uniform(word)}; }

// To the even neighbour from half-way, as Python's round.
int rounded(double x) { return static_cast<int>(std::nearbyint(x)); }

// From 0 to count - 1.
int below(int count, uint32_t word) { return static_cast<int>(uint64_t{word} * static_cast<uint64_t>(count) >> 32); }

// As much of the picture's centre as has a ratio within the limits.
RandomCrop centre_of(int height, int width, const Augmentation& a) {
  const double ratio = static_cast<double>(width) / height;
  int h = height, w = width;
  if (ratio < a.least_ratio) h = std::clamp(rounded(w / a.least_ratio), 1, height);
  if (ratio > a.most_ratio) w = std::clamp(rounded(h * a.most_ratio), 1, width);
  return {(height - h) / 2, (width - w) / 2, h, w, false};
}

RandomCrop draw_part(int height, int width, const Augmentation& a, RandomState random, uint64_t block) {
  const double area = static_cast<double>(height) * width;
  for (uint64_t i = 0; i < kTries; ++i) {
    const PhiloxBlock drawn = philox_block(random, block + i);
    const double part = area * between(a.least_area, a.most_area, drawn.word[0]);
    const double ratio = std::exp(between(std::log(a.least_ratio), std::log(a.most_ratio), drawn.word[1]));
    const int w = rounded(std::sqrt(part * ratio)), h = rounded(std::sqrt(part / ratio));
    if (w < 1 || w > width || h < 1 || h > height) continue;
    return {below(height - h + 1, drawn.word[2]), below(width - w + 1, drawn.word[3]), h, w, false};
  }
  return centre_of(height, width, a);
}

}  // namespace

RandomCrop draw_crop(int height, int width, const Augmentation& augmentation, RandomState random, int64_t sample) {
  const uint64_t block = static_cast<uint64_t>(sample) * kBlocks;
  RandomCrop crop = draw_part(height, width, augmentation, random, block);
  crop.flipped = double{philox_uniform(philox_block(random, block + kTries).word[0])} < augmentation.flip;
  return crop;
}

Image cropped(const Image& image, const RandomCrop& crop, int height, int width, Interpolation interpolation) {
  const size_t length = static_cast<size_t>(crop.width) * 3;
  Image part{crop.height, crop.width, std::vector<uint8_t>(static_cast<size_t>(crop.height) * length)};
  for (int y = 0; y < crop.height; ++y) {
    std::memcpy(part.pixels.data() + static_cast<size_t>(y) * length,
                image.pixels.data() + (int64_t{crop.top + y} * image.width + crop.left) * 3, length);
  }
  Image result = resize(part, height, width, interpolation);
  if (crop.flipped) {
    for (int y = 0; y < height; ++y) {
      uint8_t* row = result.pixels.data() + int64_t{y} * width * 3;
      for (int left = 0, right = width - 1; left < right; ++left, --right) {
        std::swap_ranges(row + int64_t{left} * 3, row + int64_t{left} * 3 + 3, row + int64_t{right} * 3);
      }
    }
  }
  return result;
}

}  // namespace dnn
