#include <libdnn/data/resize.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <kernels/error.h>

namespace dnn {
namespace {

constexpr int kChannels = 3;
// Weights have 22 bits after the point: 8 bits of pixel and a sign and a bit for sums beyond 1 fill an int32.
constexpr int kBits = 22;
constexpr int32_t kHalf = 1 << (kBits - 1);

// Keeps a picture's size times a channel from overflowing, and the memory within bounds.
void check_size(int height, int width) {
  if (height < 1 || width < 1 || int64_t{height} * width > kMaxImagePixels) {
    throw Error(fmt::format("[resize] a picture has from 1 to {} pixels; got {} x {}", kMaxImagePixels, width, height));
  }
}

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// The pixels `first`, `first` + 1, ... of a line that a new pixel is made of, with their weights.
struct Taps {
  int first;
  std::vector<int32_t> weights;
};

int32_t fixed_point(double weight) {
  const double scaled = weight * (1 << kBits);
  return static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

std::vector<Taps> taps_for(int from, int to, Interpolation interpolation) {
  const bool bilinear = interpolation == Interpolation::bilinear;
  const double scale = static_cast<double>(from) / to, widening = std::max(scale, 1.0);
  const double support = (bilinear ? 1 : 2) * widening;
  std::vector<Taps> all;
  all.reserve(static_cast<size_t>(to));
  std::vector<double> weights;
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(centre - support + 0.5)));
    const int end = std::min(from, static_cast<int>(std::floor(centre + support + 0.5)));
    weights.clear();
    double sum = 0;
    for (int j = first; j < end; ++j) {
      const double x = (j - centre + 0.5) * (1 / widening);
      weights.push_back(bilinear ? triangle(x) : cubic(x));
      sum += weights.back();
    }
    Taps taps{first, {}};
    for (const double weight : weights) taps.weights.push_back(fixed_point(sum == 0 ? weight : weight / sum));
    all.push_back(std::move(taps));
  }
  return all;
}

uint8_t to_pixel(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kBits, 0, 255)); }

Image resize_rows(const Image& image, int width, Interpolation interpolation) {
  const std::vector<Taps> all = taps_for(image.width, width, interpolation);
  Image result{image.height, width, std::vector<uint8_t>(static_cast<size_t>(image.height) * width * kChannels)};
  uint8_t* to = result.pixels.data();
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* row = image.pixels.data() + int64_t{y} * image.width * kChannels;
    for (const Taps& taps : all) {
      int32_t sum[kChannels] = {kHalf, kHalf, kHalf};
      const uint8_t* from = row + int64_t{taps.first} * kChannels;
      for (const int32_t weight : taps.weights) {
        for (int c = 0; c < kChannels; ++c) sum[c] += weight * *from++;
      }
      for (int c = 0; c < kChannels; ++c) *to++ = to_pixel(sum[c]);
    }
  }
  return result;
}

Image resize_columns(const Image& image, int height, Interpolation interpolation) {
  const size_t length = static_cast<size_t>(image.width) * kChannels;
  Image result{height, image.width, std::vector<uint8_t>(static_cast<size_t>(height) * length)};
  std::vector<int32_t> sums(length);
  uint8_t* to = result.pixels.data();
  for (const Taps& taps : taps_for(image.height, height, interpolation)) {
    std::fill(sums.begin(), sums.end(), kHalf);
    const uint8_t* from = image.pixels.data() + static_cast<size_t>(taps.first) * length;
    for (const int32_t weight : taps.weights) {
      for (size_t i = 0; i < length; ++i) sums[i] += weight * from[i];
      from += length;
    }
    for (size_t i = 0; i < length; ++i) *to++ = to_pixel(sums[i]);
  }
  return result;
}

// The index under the centre of each new pixel. PIL adds the step up, which rounds otherwise than a product.
std::vector<int> nearest_indices(int from, int to) {
  const double step = static_cast<double>(from) / to;
  std::vector<int> indices;
  indices.reserve(static_cast<size_t>(to));
  double at = step * 0.5;
  for (int i = 0; i < to; ++i, at += step) indices.push_back(std::min(static_cast<int>(at), from - 1));
  return indices;
}

Image resize_nearest(const Image& image, int height, int width) {
  const std::vector<int> rows = nearest_indices(image.height, height), columns = nearest_indices(image.width, width);
  Image result{height, width, std::vector<uint8_t>(static_cast<size_t>(height) * width * kChannels)};
  uint8_t* to = result.pixels.data();
  for (const int row : rows) {
    const uint8_t* from = image.pixels.data() + int64_t{row} * image.width * kChannels;
    for (const int column : columns) {
      std::memcpy(to, from + int64_t{column} * kChannels, kChannels);
      to += kChannels;
    }
  }
  return result;
}

}  // namespace

Image resize(const Image& image, int height, int width, Interpolation interpolation) {
  check_size(image.height, image.width);
  check_image("resize", image);
  check_size(height, width);
  if (interpolation == Interpolation::nearest) return resize_nearest(image, height, width);
  // The picture between the two passes.
  check_size(image.height, width);
  if (image.width == width) {
    return image.height == height ? image : resize_columns(image, height, interpolation);
  }
  const Image rows = resize_rows(image, width, interpolation);
  return image.height == height ? rows : resize_columns(rows, height, interpolation);
}

}  // namespace dnn
