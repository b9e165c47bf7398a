#include <catch2/catch.hpp>

#include <limits>

#include "palette.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

std::string little_endian(int64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

// A BMP file with what stands in its fields; rows as they stand in the file.
struct BmpFile {
  int64_t width = 1, height = 1;
  int bits = 8;
  int colours = 0;        // in the file
  int64_t declared = -1;  // in the header; -1: as many
  int header = 40;        // its size; 12 is OS/2's
  int compression = 0;
  std::string masks = {};    // behind a header of 40 bytes
  std::string between = {};  // before the pixels
  int64_t offset = -1;       // of the pixels; -1: where they are
  std::vector<std::vector<uint32_t>> rows;

  std::string str() const {
    std::string body = little_endian(header, 4);
    const int side = header == 12 ? 2 : 4;
    body += little_endian(width, side) + little_endian(height, side) + little_endian(1, 2) + little_endian(bits, 2);
    if (header > 12) {
      body += little_endian(compression, 4) + std::string(12, '\0') +
              little_endian(declared < 0 ? colours : declared, 4) + std::string(4, '\0');
    }
    body += masks;
    for (int i = 0; i < colours; ++i) {
      for (int c = 2; c >= 0; --c) body += static_cast<char>(colour_of(i, c));
      if (header > 12) body += '\0';
    }
    body += between;
    std::string pixels;
    for (const std::vector<uint32_t>& row : rows) {
      std::string line;
      uint32_t byte = 0;
      int have = 0;
      for (const uint32_t value : row) {
        if (bits >= 8) {
          line += little_endian(value, bits / 8);
          continue;
        }
        byte = byte << bits | value;
        have += bits;
        if (have < 8) continue;
        line += static_cast<char>(byte);
        byte = 0;
        have = 0;
      }
      if (have > 0) line += static_cast<char>(byte << (8 - have));
      line.resize((line.size() + 3) / 4 * 4);
      pixels += line;
    }
    const auto start = static_cast<int64_t>(14 + body.size());
    return "BM" + little_endian(start + static_cast<int64_t>(pixels.size()), 4) + little_endian(0, 4) +
           little_endian(offset < 0 ? start : offset, 4) + body + pixels;
  }
};

std::vector<uint32_t> wide(const std::vector<uint8_t>& values) { return {values.begin(), values.end()}; }

Image decoded(const BmpFile& file) {
  fill_stack();
  return decode_image(bytes_of(file.str()), "bmp");
}

TEST_CASE("bmp: an index beyond the palette is black", "[image]") {
  for (const int bits : {1, 4, 8}) {
    const std::vector<uint8_t> indices = all_indices(bits);
    for (const int colours : {1, 2, 3, 16, 17, 255, 256}) {
      if (colours > 1 << bits) continue;
      for (const int header : {12, 40}) {
        INFO(bits << " bits, " << colours << " colors, header of " << header);
        BmpFile file{.width = 1 << bits, .bits = bits, .colours = colours, .header = header, .rows = {wide(indices)}};
        CHECK(decoded(file).pixels == looked_up(indices, colours));
        if (header == 12) continue;
        // What stands between palette and pixels is no color, unless the header counts it among them.
        file.between = std::string(8, '\x77');
        CHECK(decoded(file).pixels == looked_up(indices, colours));
        file.between = "";
        file.declared = 0;  // 2^bits, of which the file has fewer
        CHECK(decoded(file).pixels == looked_up(indices, colours));
      }
    }
  }
  // More colors than indices: the pixels stand behind them all.
  const BmpFile many{.width = 2, .bits = 4, .colours = 40, .rows = {{1, 15}}};
  CHECK(decoded(many).pixels == looked_up({1, 15}, 16));
  // Some writers leave the offset out, or forget the palette in it.
  for (const int offset : {0, 54}) {
    const BmpFile file{.width = 2, .colours = 256, .offset = offset, .rows = {{1, 200}}};
    CHECK(decoded(file).pixels == looked_up({1, 200}, 256));
  }
}

TEST_CASE("bmp: rows from the top down", "[image]") {
  const std::vector<std::vector<uint32_t>> rows{{0, 1, 2}, {3, 4, 5}};
  const BmpFile up{.width = 3, .height = 2, .colours = 6, .rows = rows};
  CHECK(decoded(up).pixels == looked_up({3, 4, 5, 0, 1, 2}, 6));
  const BmpFile down{.width = 3, .height = -2, .colours = 6, .rows = rows};
  const Image image = decoded(down);
  CHECK(image.height == 2);
  CHECK(image.width == 3);
  CHECK(image.pixels == looked_up({0, 1, 2, 3, 4, 5}, 6));
  // The same picture in 24 bits and both orders.
  std::string file = bmp_bytes(noise_picture());
  file.replace(22, 4, little_endian(-kPictureHeight, 4));
  const size_t pitch = (file.size() - 54) / kPictureHeight;
  std::string flipped = file.substr(0, 54);
  for (size_t y = kPictureHeight; y-- > 0;) flipped += file.substr(54 + y * pitch, pitch);
  CHECK(decode_image(bytes_of(flipped), "flipped").pixels == noise_picture().pixels);
}

TEST_CASE("bmp: sizes that no picture has are refused with them", "[image]") {
  const auto of_size = [](int64_t width, int64_t height) {
    return picture_refusal(BmpFile{.width = width, .height = height, .colours = 2, .rows = {{0}}}.str());
  };
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  CHECK(of_size(1, 1) == "accepted");
  CHECK_THAT(of_size(53, kLeast), Contains("some picture has 53 x 2147483648 pixels"));
  CHECK_THAT(of_size(kLeast, 1), Contains("-2147483648 x 1 pixels"));
  CHECK_THAT(of_size(-1, 1), Contains("some picture has -1 x 1 pixels"));
  CHECK_THAT(of_size(0, 1), Contains("0 x 1 pixels"));
  CHECK_THAT(of_size(1, 0), Contains("1 x 0 pixels"));
  CHECK_THAT(of_size(0x7FFFFFFF, -0x7FFFFFFF), Contains("2147483647 x 2147483647 pixels"));
  // However much is allowed, the file must have it.
  const std::string large = BmpFile{.width = 0x7FFFFFFF, .height = kLeast, .bits = 32, .rows = {{0}}}.str();
  CHECK_THAT(picture_refusal(large, std::numeric_limits<int64_t>::max()), Contains("some picture"));
  CHECK_THAT(of_size(5, 2), Contains("cut"));
}

TEST_CASE("bmp: 16 and 32 bits a pixel, with masks and without", "[image]") {
  using Pixels = std::vector<uint8_t>;
  const auto masks = [](uint32_t red, uint32_t green, uint32_t blue) {
    return little_endian(red, 4) + little_endian(green, 4) + little_endian(blue, 4);
  };
  // Values as PIL has them: of 5 bits, 31 is 255 and 4 is 32.
  const BmpFile five{.width = 5, .bits = 16, .rows = {{0x7FFF, 0x7C00, 0x03E0, 0x001F, 0x1084}}};
  CHECK(decoded(five).pixels == Pixels{255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 32, 32, 32});
  const BmpFile six{.width = 5,
                    .bits = 16,
                    .compression = 3,
                    .masks = masks(0xF800, 0x07E0, 0x001F),
                    .rows = {{0x7FFF, 0xF800, 0x07E0, 0x001F, 0x1084}}};
  CHECK(decoded(six).pixels == Pixels{123, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 16, 16, 32});
  const BmpFile plain{.width = 2, .bits = 32, .rows = {{0x01020304, 0xFF0A0B0C}}};
  CHECK(decoded(plain).pixels == Pixels{2, 3, 4, 10, 11, 12});
  BmpFile masked = plain;
  masked.compression = 3;
  masked.masks = masks(0xFF, 0xFF00, 0xFF0000);
  CHECK(decoded(masked).pixels == Pixels{4, 3, 2, 12, 11, 10});
  masked.masks = masks(0x3FF00000, 0x000FFC00, 0x000003FF);  // of 10 bits
  masked.rows = {{0x3FF00000, 0x0008018D}};
  CHECK(decoded(masked).pixels == Pixels{255, 0, 0, 0, 127, 98});
  masked.masks = masks(0xFFFFFFFF, 0x80000000, 1);
  CHECK(decoded(masked).pixels == Pixels{63, 0, 0, 0, 0, 255});
  for (const uint32_t wrong : {0x00U, 0x05U}) {
    masked.masks = masks(wrong, 0xFF00, 0xFF0000);
    CHECK_THAT(picture_refusal(masked.str()), Contains("some picture") && Contains("masks"));
  }
}

TEST_CASE("bmp: what is not supported or damaged is refused by name", "[image]") {
  BmpFile file{.width = 4, .colours = 4, .rows = {{0, 1, 2, 3}}};
  const auto compressed = [&](int compression) {
    BmpFile other = file;
    other.compression = compression;
    return picture_refusal(other.str());
  };
  CHECK(compressed(0) == "accepted");
  CHECK_THAT(compressed(1), Contains("some picture") && Contains("run-length"));
  CHECK_THAT(compressed(2), Contains("some picture") && Contains("run-length"));
  for (const int other : {3, 4, 5, 6, 11, -1}) CHECK_THAT(compressed(other), Contains("some picture"));
  for (const int bits : {0, 2, 3, 7, 64, 65535}) {
    std::string changed = file.str();
    changed.replace(28, 2, little_endian(bits, 2));
    CHECK_THAT(picture_refusal(changed), Contains("some picture") && Contains(std::to_string(bits) + " bits"));
  }
  for (const int64_t header : {0, 11, 16, 41, 65536, -1}) {
    std::string changed = file.str();
    changed.replace(14, 4, little_endian(header, 4));
    CHECK_THAT(picture_refusal(changed), Contains("some picture"));
  }
  for (const int64_t offset : {int64_t{1}, int64_t{53}, int64_t{100000}, int64_t{0xFFFFFFFF}}) {
    file.offset = offset;
    CHECK_THAT(picture_refusal(file.str()), Contains("some picture"));
  }
}

}  // namespace
}  // namespace dnn
