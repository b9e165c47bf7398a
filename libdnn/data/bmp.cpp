#include <libdnn/data/bmp.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <kernels/error.h>

namespace dnn {
namespace {

using Bytes = std::span<const uint8_t>;
using Color = std::array<uint8_t, 3>;

constexpr int64_t kFileHeader = 14, kCoreHeader = 12;  // OS/2's
constexpr uint32_t kPlain = 0, kRle8 = 1, kRle4 = 2, kMasks = 3;

// The 16 or 32 bits of a pixel that are one channel's; values are scaled to 8 bits as PIL does it.
struct Mask {
  uint32_t bits = 0;

  bool is_contiguous() const { return bits != 0 && std::popcount(most()) == std::countr_one(most()); }
  uint32_t most() const { return bits >> std::countr_zero(bits); }
  uint8_t of(uint32_t pixel) const {
    return static_cast<uint8_t>(uint64_t{(pixel & bits) >> std::countr_zero(bits)} * 255 / most());
  }
};

class BmpReader {
 public:
  BmpReader(Bytes file, const std::string& name) : file_(file), name_(name) { read_header(); }

  Image read(int64_t max_pixels) {
    check_image_size(name_, width_, height_, max_pixels);
    if (height_ > std::numeric_limits<int>::max()) throw fault(fmt::format("it has {} rows", height_));
    if (bits_ <= 8) read_palette();
    if (bits_ == 16 || bits_ == 32) read_masks();

    const int64_t pitch = (width_ * bits_ + 31) / 32 * 4, size = static_cast<int64_t>(file_.size());
    if (pixels_ > size || (size - pixels_) / pitch < height_) throw cut();
    Image image{static_cast<int>(height_), static_cast<int>(width_), {}};
    image.pixels.resize(static_cast<size_t>(width_ * height_ * 3));
    uint8_t* to = image.pixels.data();
    for (int64_t y = 0; y < height_; ++y, to += width_ * 3) {
      const int64_t row = top_down_ ? y : height_ - 1 - y;
      read_row(file_.subspan(static_cast<size_t>(pixels_ + row * pitch), static_cast<size_t>(pitch)), to);
    }
    return image;
  }

 private:
  Error cut() const { return Error(fmt::format("[image] {} is cut: it ends before the picture does", name_)); }
  Error fault(const std::string& what) const {
    return Error(fmt::format("[image] {} is damaged or not supported: {}", name_, what));
  }

  uint32_t at(int64_t place, int bytes) const {
    if (place + bytes > static_cast<int64_t>(file_.size())) throw cut();
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= uint32_t{file_[static_cast<size_t>(place + i)]} << 8 * i;
    return value;
  }
  int64_t signed_at(int64_t place) const { return static_cast<int32_t>(at(place, 4)); }

  void read_header() {
    pixels_ = at(10, 4);
    header_ = at(kFileHeader, 4);
    constexpr std::array<int64_t, 7> kKnown{kCoreHeader, 40, 52, 56, 64, 108, 124};
    if (std::find(kKnown.begin(), kKnown.end(), header_) == kKnown.end()) {
      throw fault(fmt::format("no BMP has a header of {} bytes", header_));
    }
    end_ = kFileHeader + header_;
    if (header_ == kCoreHeader) {
      width_ = at(18, 2);
      height_ = at(20, 2);
      bits_ = at(24, 2);
    } else {
      width_ = signed_at(18);
      height_ = signed_at(22);
      bits_ = at(28, 2);
      compression_ = at(30, 4);
      colors_ = at(46, 4);
      at(end_ - 4, 4);  // the whole header is there
    }
    top_down_ = height_ < 0;
    height_ = std::abs(height_);
    constexpr std::array<int64_t, 6> kDepths{1, 4, 8, 16, 24, 32};
    if (std::find(kDepths.begin(), kDepths.end(), bits_) == kDepths.end()) {
      throw fault(fmt::format("it has {} bits a pixel", bits_));
    }
    if (compression_ == kRle8 || compression_ == kRle4) throw fault("it is run-length coded");
    if (compression_ != kPlain && !(compression_ == kMasks && (bits_ == 16 || bits_ == 32))) {
      throw fault(fmt::format("it has {} bits a pixel and compression {}", bits_, compression_));
    }
    // The masks stand in the header, or behind one of 40 bytes.
    if (compression_ == kMasks && header_ == 40) end_ += 12;
    const bool no_offset = pixels_ == 0 || (bits_ <= 8 && pixels_ == end_);
    if (no_offset) pixels_ = end_ + (bits_ <= 8 ? palette_size() : 0);
    if (pixels_ < end_) throw fault(fmt::format("its pixels begin at byte {}, within its header", pixels_));
  }

  int64_t color_size() const { return header_ == kCoreHeader ? 3 : 4; }
  int64_t palette_size() const { return (colors_ > 0 ? colors_ : int64_t{1} << bits_) * color_size(); }

  // What a pixel can ask for; black where the file has no color before its pixels.
  void read_palette() {
    const int64_t most = std::min(palette_size(), pixels_ - end_) / color_size();
    palette_.resize(size_t{1} << bits_);
    for (int64_t i = 0; i < std::min(most, int64_t{1} << bits_); ++i) {
      const uint32_t bgr = at(end_ + i * color_size(), 3);
      palette_[static_cast<size_t>(i)] = {static_cast<uint8_t>(bgr >> 16), static_cast<uint8_t>(bgr >> 8),
                                          static_cast<uint8_t>(bgr)};
    }
  }

  void read_masks() {
    if (compression_ == kMasks) {
      for (int c = 0; c < 3; ++c) masks_[static_cast<size_t>(c)] = {at(kFileHeader + 40 + 4 * c, 4)};
    } else if (bits_ == 16) {
      masks_ = {{{0x7C00}, {0x03E0}, {0x001F}}};
    } else {
      masks_ = {{{0xFF0000}, {0x00FF00}, {0x0000FF}}};
    }
    for (const Mask& mask : masks_) {
      if (!mask.is_contiguous() || (bits_ == 16 && mask.bits > 0xFFFF)) {
        throw fault(
            fmt::format("its masks are {:#x}, {:#x} and {:#x}", masks_[0].bits, masks_[1].bits, masks_[2].bits));
      }
    }
  }

  void read_row(Bytes row, uint8_t* to) const {
    const auto bits = static_cast<size_t>(bits_);
    for (size_t x = 0; x < static_cast<size_t>(width_); ++x, to += 3) {
      const size_t byte = x * bits / 8;
      if (bits <= 8) {
        const size_t shift = 8 - bits - x * bits % 8, index = row[byte] >> shift & ((1U << bits) - 1);
        std::copy_n(palette_[index].data(), 3, to);
      } else if (bits == 24) {
        std::reverse_copy(&row[byte], &row[byte] + 3, to);
      } else {
        uint32_t pixel = row[byte] | uint32_t{row[byte + 1]} << 8;
        if (bits == 32) pixel |= uint32_t{row[byte + 2]} << 16 | uint32_t{row[byte + 3]} << 24;
        for (size_t c = 0; c < 3; ++c) to[c] = masks_[c].of(pixel);
      }
    }
  }

  Bytes file_;
  const std::string& name_;
  int64_t header_ = 0, end_ = 0, pixels_ = 0;  // size of the second header; where the headers end, and the pixels begin
  int64_t width_ = 0, height_ = 0, bits_ = 0, colors_ = 0;
  uint32_t compression_ = kPlain;
  bool top_down_ = false;
  std::vector<Color> palette_;
  std::array<Mask, 3> masks_;
};

}  // namespace

Image decode_bmp(Bytes file, const std::string& name, int64_t max_pixels) {
  return BmpReader(file, name).read(max_pixels);
}

}  // namespace dnn
