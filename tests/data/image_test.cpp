#include <catch2/catch.hpp>
#include <cstdlib>

#include <libdnn/core/tensor.h>
#include <libdnn/data/exif.h>

#include "palette.h"
#include "tiff_bytes.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

// The JPEG whose EXIF part says orientation 6, with another value there.
std::string oriented_jpeg(int value) {
  std::string file = picture_bytes("orientation.jpg");
  for (const std::string& entry :
       {std::string("\x12\x01\x03\x00\x01\x00\x00\x00", 8), std::string("\x01\x12\x00\x03\x00\x00\x00\x01", 8)}) {
    const size_t at = file.find(entry);
    if (at != std::string::npos) file[at + (entry[0] == 1 ? 9 : 8)] = static_cast<char>(value);
  }
  return file;
}

std::string refusal(const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.write("some picture", content);
  try {
    read_image(path);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains(path));
    return error.what();
  }
  return "accepted";
}

TEST_CASE("image: every kind of file arrives as PIL reads it", "[image]") {
  for (const auto& [name, values] : expected_pictures()["files"].items()) {
    INFO(name);
    const Image image =
        name == "orientation.jpg" ? decode_image(bytes_of(oriented_jpeg(1)), name) : read_image(picture_path(name));
    REQUIRE(image.height == kPictureHeight);
    REQUIRE(image.width == kPictureWidth);
    const auto expected = values.get<std::vector<uint8_t>>();
    REQUIRE(image.pixels.size() == expected.size());
    // Decoders of JPEG round differently; the others have nothing to round.
    const int most = name.ends_with(".jpg") ? 3 : 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (std::abs(image.pixels[i] - expected[i]) > most) {
        INFO(i);
        CHECK(int{image.pixels[i]} == int{expected[i]});
      }
    }
  }
}

TEST_CASE("image: EXIF's eight orientations are undone", "[image]") {
  const Image plain = decode_image(bytes_of(oriented_jpeg(1)), "plain");
  REQUIRE(decode_image(bytes_of(picture_bytes("orientation.jpg")), "file").height == kPictureWidth);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    INFO(orientation);
    const Image image = decode_image(bytes_of(oriented_jpeg(orientation)), "turned");
    const bool turned = orientation >= 5;
    REQUIRE(image.height == (turned ? kPictureWidth : kPictureHeight));
    REQUIRE(image.width == (turned ? kPictureHeight : kPictureWidth));
    // Where the stored picture's row 0 and column 0 are when it is looked at (CIPA DC-008, table of 4.6.4).
    const int h = image.height, w = image.width;
    const auto place = [&](int row, int column) -> std::pair<int, int> {
      switch (orientation) {
        case 1:
          return {row, column};  // row 0 is the top, column 0 the left side
        case 2:
          return {row, w - 1 - column};  // top, right
        case 3:
          return {h - 1 - row, w - 1 - column};  // bottom, right
        case 4:
          return {h - 1 - row, column};  // bottom, left
        case 5:
          return {column, row};  // left, top
        case 6:
          return {column, w - 1 - row};  // right, top
        case 7:
          return {h - 1 - column, w - 1 - row};  // right, bottom
        default:
          return {h - 1 - column, row};  // left, bottom
      }
    };
    bool same = true;
    for (int row = 0; row < plain.height; ++row) {
      for (int column = 0; column < plain.width; ++column) {
        const auto [y, x] = place(row, column);
        same = same && std::equal(&plain.pixels[(row * plain.width + column) * 3],
                                  &plain.pixels[(row * plain.width + column) * 3] + 3, &image.pixels[(y * w + x) * 3]);
      }
    }
    CHECK(same);
  }
  for (const int none : {0, 9, 255}) {
    CHECK(decode_image(bytes_of(oriented_jpeg(none)), "none").pixels == plain.pixels);
  }
}

TEST_CASE("image: EXIF's numbers stay within the segment", "[image]") {
  constexpr uint16_t kTag = 0x0112, kShort = 3;
  for (const bool little : {true, false}) {
    CHECK(exif_orientation(bytes_of(tiff_bytes(little, 8, 1, kTag, kShort, 6))) == 6);
    CHECK(exif_orientation(bytes_of(tiff_bytes(little, 8, 65535, kTag, kShort, 3))) == 3);
    CHECK(exif_orientation(bytes_of(tiff_bytes(little, 8, 65535, kTag + 1, kShort, 3))) == 1);
    CHECK(exif_orientation(bytes_of(tiff_bytes(little, 0xFFFFFFFF, 1, kTag, kShort, 6))) == 1);
    CHECK(exif_orientation(bytes_of(tiff_bytes(little, 21, 1, kTag, kShort, 6))) == 1);
    CHECK(exif_orientation(bytes_of(tiff_bytes(little, 8, 1, kTag, 4, 6))) == 1);
    CHECK(exif_orientation(bytes_of(tiff_bytes(little, 8, 0, kTag, kShort, 6))) == 1);
    const std::string whole = tiff_bytes(little, 8, 1, kTag, kShort, 6);
    for (size_t length = 0; length < whole.size(); ++length) {
      const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      CHECK(exif_orientation(part) == 1);
    }
  }
}

TEST_CASE("image: a cut file is an error with its name, wherever it is cut", "[image]") {
  for (const char* name : {"rgb.png", "palette.png", "rgb16.png", "rgb.bmp", "palette.bmp", "rgb.jpg", "subsampled.jpg",
                           "progressive.jpg", "cmyk.jpg", "orientation.jpg"}) {
    const std::string whole = picture_bytes(name);
    for (size_t length = 0; length < whole.size(); ++length) {
      const std::string part = whole.substr(0, length);
      INFO(name << ", " << length << " of " << whole.size() << " bytes");
      CHECK_THROWS_WITH(decode_image(bytes_of(part), "some picture"), Contains("some picture"));
    }
  }
  CHECK_THAT(refusal(picture_bytes("rgb.jpg").substr(0, 600)), Contains("cut"));
  CHECK_THAT(refusal(picture_bytes("rgb.png").substr(0, 100)), Contains("cut"));
}

TEST_CASE("image: what is no picture, damaged or too large is refused by name", "[image]") {
  CHECK_THAT(refusal(""), Contains("no JPEG, PNG or BMP"));
  CHECK_THAT(refusal("GIF89a"), Contains("no JPEG, PNG or BMP"));
  CHECK_THAT(refusal("BM and nothing else to be seen here, however long one looks"),
             Contains("damaged or not supported"));
  CHECK_THROWS_WITH(read_image("no/such/picture.png"), Contains("no/such/picture.png"));
  CHECK_THROWS_WITH(read_image(source_path("tests")), Contains(source_path("tests")));

  std::string png = picture_bytes("rgb.png");
  png[png.size() / 2] ^= 1;
  CHECK_THAT(refusal(png), Contains("check sum"));

  // More codes than a table has, and codes beyond the table's segment.
  for (const int count : {255, 123, 12}) {
    std::string tables = picture_bytes("rgb.jpg");
    const size_t first_count = tables.find("\xFF\xC4") + 5;
    tables[first_count + 14] = static_cast<char>(count);
    tables[first_count + 15] = static_cast<char>(count);
    CHECK_THAT(refusal(tables), Contains("Huffman"));
  }

  // 16,000 x 16,000 pixels promised by a header.
  std::string bmp = picture_bytes("rgb.bmp");
  bmp.replace(18, 8, std::string("\x80\x3E\0\0\x80\x3E\0\0", 8));
  CHECK_THAT(refusal(bmp), Contains("16000 x 16000 pixels"));
  std::string jpeg = picture_bytes("rgb.jpg");
  jpeg.replace(jpeg.find("\xFF\xC0") + 5, 4, "\xFF\xFF\xFF\xFF");
  CHECK_THAT(refusal(jpeg), Contains("65535 x 65535 pixels"));
  CHECK_THROWS_WITH(read_image(picture_path("rgb.png"), 153), Contains("14 x 11 pixels; at most 153"));
  CHECK(read_image(picture_path("rgb.png"), 154).width == kPictureWidth);
  for (const int none : {0, -1}) {
    CHECK_THROWS_WITH(read_image(picture_path("rgb.png"), none),
                      Contains("max_pixels") && Contains(std::to_string(none)));
  }
}

}  // namespace
}  // namespace dnn
