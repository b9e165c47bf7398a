#include <libdnn/data/preprocess.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <kernels/backend.h>
#include <kernels/parallel.h>
#include <libdnn/data/resize.h>

namespace dnn {
namespace {

const char* name_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::nearest:
      return "nearest";
    case Interpolation::bilinear:
      return "bilinear";
    case Interpolation::bicubic:
      break;
  }
  return "bicubic";
}

struct Size {
  int height, width;
  friend bool operator==(const Size& a, const Size& b) { return a.height == b.height && a.width == b.width; }
};

// The shorter side becomes `shorter`; the longer one keeps the proportions, rounded down.
Size resized(const Image& image, int shorter) {
  if (shorter == 0) return {image.height, image.width};
  const int64_t smaller = std::min(image.height, image.width), larger = std::max(image.height, image.width);
  const int64_t longer = shorter * larger / std::max<int64_t>(smaller, 1);
  if (shorter > kMaxImagePixels || longer > kMaxImagePixels / shorter) {
    throw Error(
        fmt::format("[preprocess] a picture of {} x {} pixels grows beyond {} where its shorter side becomes {}",
                    image.width, image.height, kMaxImagePixels, shorter));
  }
  const int other = static_cast<int>(longer);
  return image.height <= image.width ? Size{shorter, other} : Size{other, shorter};
}

// Where a crop from the centre begins: half of what is left over goes before it, a half pixel to the even neighbour; of
// what is missing (negative), the smaller half.
int crop_begin(int size, int crop) {
  const int over = size - crop;
  if (over < 0) return -(-over / 2);
  const int half = over / 2;
  return over % 2 != 0 && half % 2 != 0 ? half + 1 : half;
}

// What each of the 256 values of a pixel becomes, a table for each of the picture's channels.
using Table = std::array<std::array<float, 256>, 3>;

Table table_of(const Preprocessing& steps) {
  Table table;
  for (size_t c = 0; c < 3; ++c) {
    for (size_t value = 0; value < 256; ++value) {
      table[c][value] = (static_cast<float>(value) / 255 - steps.mean[c]) / steps.std[c];
    }
  }
  return table;
}

void check(const Preprocessing& steps) {
  if (steps.resize < 0 || steps.crop_height < 0 || steps.crop_width < 0 ||
      (steps.crop_height == 0) != (steps.crop_width == 0)) {
    throw Error(fmt::format("[preprocess] sizes must not be negative; got resize {}, crop {} x {}", steps.resize,
                            steps.crop_height, steps.crop_width));
  }
  for (size_t c = 0; c < 3; ++c) {
    if (steps.std[c] == 0 || !std::isfinite(steps.std[c]) || !std::isfinite(steps.mean[c])) {
      throw Error(fmt::format("[preprocess] mean and std must be finite and std not 0; got ({}) and ({})",
                              fmt::join(steps.mean, ", "), fmt::join(steps.std, ", ")));
    }
  }
}

// The luma of ITU-R 601 in all three channels, in 16 bits of fixed point as PIL does it.
Image grey_of(Image image) {
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    uint8_t* p = &image.pixels[i];
    p[0] = p[1] = p[2] = static_cast<uint8_t>((p[0] * 19595 + p[1] * 38470 + p[2] * 7471 + (1 << 15)) >> 16);
  }
  return image;
}

// Cuts `size` from the centre and looks its pixels up.
void convert(const Image& image, Size size, const Table& table, const Preprocessing& steps, float* to) {
  const int top = crop_begin(image.height, size.height), left = crop_begin(image.width, size.width);
  static constexpr uint8_t kBlack[3] = {};
  const size_t channels = steps.grey ? 1 : 3;
  for (int y = top; y < top + size.height; ++y) {
    for (int x = left; x < left + size.width; ++x, to += channels) {
      const bool inside = y >= 0 && y < image.height && x >= 0 && x < image.width;
      const uint8_t* pixel = inside ? image.pixels.data() + (int64_t{y} * image.width + x) * 3 : kBlack;
      for (size_t c = 0; c < channels; ++c) to[c] = table[c][pixel[steps.bgr ? 2 - c : c]];
    }
  }
}

Tensor preprocess(std::span<const Image> images, const Preprocessing& steps, const Device& device) {
  check(steps);
  if (images.empty()) throw Error("[preprocess] there must be a picture; got none");
  const bool crop = steps.crop_height > 0;
  const auto size_of = [&](const Image& image) {
    return crop ? Size{steps.crop_height, steps.crop_width} : resized(image, steps.resize);
  };
  const Size size = size_of(images.front());
  for (const Image& image : images) {
    check_image("preprocess", image);
    if (!(size_of(image) == size)) {
      throw Error(
          fmt::format("[preprocess] the pictures of a batch must have one size, or be cropped; got {} x {} and {} x {}",
                      size.width, size.height, size_of(image).width, size_of(image).height));
    }
  }

  const int channels = steps.grey ? 1 : 3;
  const Tensor batch({static_cast<int>(images.size()), size.height, size.width, channels}, DType::float32, "cpu");
  const Table table = table_of(steps);
  const int64_t floats = int64_t{channels} * size.height * size.width, count = static_cast<int64_t>(images.size());
  parallel_for(thread_context("cpu"), count, [&](int64_t i, int) {
    const Image& given = images[static_cast<size_t>(i)];
    const Image grey = steps.grey ? grey_of(given) : Image{};
    const Image& image = steps.grey ? grey : given;
    const Size whole = resized(image, steps.resize);
    float* to = batch.data<float>() + i * floats;
    if (whole == Size{image.height, image.width}) {
      convert(image, size, table, steps, to);
    } else {
      convert(resize(image, whole.height, whole.width, steps.interpolation), size, table, steps, to);
    }
  });
  return batch.to(device);
}

}  // namespace

Tensor preprocess(const std::vector<Image>& images, const Preprocessing& steps, const Device& device) {
  return preprocess(std::span(images), steps, device);
}

Tensor preprocess(const Image& image, const Preprocessing& steps, const Device& device) {
  return preprocess(std::span(&image, 1), steps, device);
}

std::string Preprocessing::str() const {
  std::string text;
  if (resize > 0) text += fmt::format("shorter side to {} ({}), ", resize, name_of(interpolation));
  if (crop_height > 0) text += fmt::format("centre {} x {}, ", crop_height, crop_width);
  if (grey) return text + fmt::format("grey, mean {}, std {}", mean[0], std[0]);
  return text +
         fmt::format("{}, mean ({}), std ({})", bgr ? "BGR" : "RGB", fmt::join(mean, ", "), fmt::join(std, ", "));
}

}  // namespace dnn
