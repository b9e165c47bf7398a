#include <libdnn/data/augment.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <kernels/error.h>
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

void Augmentation::check(const char* op) const {
  if (!(least_area > 0 && least_area <= most_area && most_area <= 1 && least_ratio > 0 && least_ratio <= most_ratio &&
        std::isfinite(most_ratio) && flip >= 0 && flip <= 1)) {
    throw Error(
        fmt::format("[{}] an augmentation needs 0 < area <= 1, 0 < ratio, 0 <= flip <= 1; got area {} to {}, ratio {} "
                    "to {}, flip {}",
                    op, least_area, most_area, least_ratio, most_ratio, flip));
  }
}

RandomCrop draw_crop(int height, int width, const Augmentation& augmentation, RandomState random, int64_t sample) {
  augmentation.check("draw_crop");
  if (height < 1 || width < 1) {
    throw Error(fmt::format("[draw_crop] a picture has a pixel at least; got {} x {}", width, height));
  }
  if (sample < 0) throw Error(fmt::format("[draw_crop] the sample's number must not be negative; got {}", sample));
  const uint64_t block = static_cast<uint64_t>(sample) * kBlocks;
  RandomCrop crop = draw_part(height, width, augmentation, random, block);
  crop.flipped = double{philox_uniform(philox_block(random, block + kTries).word[0])} < augmentation.flip;
  return crop;
}

Image cropped(const Image& image, const RandomCrop& crop, int height, int width, Interpolation interpolation) {
  check_image("cropped", image);
  if (crop.top < 0 || crop.left < 0 || crop.height < 1 || crop.width < 1 || crop.height > image.height - crop.top ||
      crop.width > image.width - crop.left) {
    throw Error(fmt::format("[cropped] a part must lie in the picture of {} x {} pixels; got {} x {} at ({}, {})",
                            image.width, image.height, crop.width, crop.height, crop.left, crop.top));
  }
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
