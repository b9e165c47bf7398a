#include <libdnn/data/image.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <kernels/error.h>
#include <libdnn/data/bmp.h>
#include <libdnn/data/jpeg_header.h>
#include <libdnn/data/png_header.h>
#include <libdnn/data/stb_decode.h>

namespace dnn {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr std::string_view kJpeg = "\xFF\xD8\xFF", kPng = "\x89PNG\r\n\x1A\n", kBmp = "BM";

bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// A JPEG of four components without Adobe's segment is CMYK, for PIL with Adobe's inverted values as well; stb_image
// takes it for YCbCr unless the segment says so.
std::vector<uint8_t> with_adobe_segment(Bytes file) {
  constexpr std::string_view kSegment(
      "\xFF\xEE\x00\x0E"
      "Adobe\x00\x64\x00\x00\x00\x00\x00",
      16);
  std::vector<uint8_t> changed(file.begin(), file.end());
  changed.insert(changed.begin() + 2, kSegment.begin(), kSegment.end());
  return changed;
}

// The picture as its EXIF orientation wants it to be seen (CIPA DC-008, 4.6.4): from 5 on, rows and columns are
// exchanged first.
Image oriented(const Image& image, int orientation) {
  const bool exchanged = orientation >= 5;
  const bool flip_rows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool flip_columns = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  Image result{exchanged ? image.width : image.height, exchanged ? image.height : image.width, {}};
  result.pixels.resize(image.pixels.size());
  uint8_t* to = result.pixels.data();
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x, to += 3) {
      int row = exchanged ? x : y, column = exchanged ? y : x;
      if (flip_rows) row = image.height - 1 - row;
      if (flip_columns) column = image.width - 1 - column;
      std::copy_n(image.pixels.data() + (int64_t{row} * image.width + column) * 3, 3, to);
    }
  }
  return result;
}

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw Error(fmt::format("[image] cannot read {}: {}", path, error.message()));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("[image] cannot open {}: {}", path, std::strerror(errno)));
  std::vector<uint8_t> bytes(size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<uintmax_t>(file.gcount()) != size) throw Error(fmt::format("[image] cannot read {}", path));
  return bytes;
}

}  // namespace

void check_image(const char* op, const Image& image) {
  if (image.height < 1 || image.width < 1 ||
      image.pixels.size() != static_cast<size_t>(image.height) * static_cast<size_t>(image.width) * 3) {
    throw Error(fmt::format("[{}] a picture has 3 bytes a pixel; got {} x {} pixels and {} bytes", op, image.width,
                            image.height, image.pixels.size()));
  }
}

void check_image_size(const std::string& name, int64_t width, int64_t height, int64_t max_pixels) {
  if (width < 1 || height < 1 || width > max_pixels / height) {
    throw Error(fmt::format("[image] {} has {} x {} pixels; at most {} are read", name, width, height, max_pixels));
  }
}

Image decode_image(Bytes file, const std::string& name, int64_t max_pixels) {
  if (max_pixels < 1) throw Error(fmt::format("[image] max_pixels must be at least 1; got {}", max_pixels));
  if (starts_with(file, kBmp)) return decode_bmp(file, name, max_pixels);
  Image image;
  int orientation = 1;
  if (starts_with(file, kJpeg)) {
    const JpegHeader header = read_jpeg_header(file, name);
    orientation = header.orientation;
    image = header.components == 4 && !header.adobe ? stb_decode(with_adobe_segment(file), name, max_pixels)
                                                    : stb_decode(file, name, max_pixels);
  } else if (starts_with(file, kPng)) {
    const PngHeader header = read_png_header(file, name, max_pixels);
    orientation = header.orientation;
    image = header.missing_colors > 0 ? stb_decode(with_whole_palette(file, header), name, max_pixels)
                                      : stb_decode(file, name, max_pixels);
  } else {
    throw Error(fmt::format("[image] {} is no JPEG, PNG or BMP file", name));
  }
  return orientation == 1 ? image : oriented(image, orientation);
}

Image read_image(const std::string& path, int64_t max_pixels) {
  return decode_image(read_bytes(path), path, max_pixels);
}

}  // namespace dnn
