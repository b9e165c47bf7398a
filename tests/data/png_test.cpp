#include <catch2/catch.hpp>

#include "palette.h"
#include "png_bytes.h"
#include "tiff_bytes.h"

namespace dnn {
namespace {

using Catch::Matchers::Contains;

std::string palette_chunk(int colours) {
  std::string content;
  for (int i = 0; i < colours; ++i) {
    for (int c = 0; c < 3; ++c) content += static_cast<char>(colour_of(i, c));
  }
  return png_chunk("PLTE", content);
}

// Every index of this depth, in a square or a row.
PngFile all_colours(int depth, const std::string& before) {
  const int width = depth == 8 ? 16 : 1 << depth, height = depth == 8 ? 16 : 1;
  return {.width = width, .height = height, .depth = depth, .samples = all_indices(depth), .before = before};
}

TEST_CASE("png: an index beyond the palette is black, as for PIL", "[image]") {
  for (const int depth : {1, 2, 4, 8}) {
    for (const int colours : {1, 2, 3, 17, 255, 256}) {
      for (const bool interlaced : {false, true}) {
        for (const bool transparent : {false, true}) {
          INFO(depth << " bits, " << colours << " colors" << (interlaced ? ", interlaced" : "")
                     << (transparent ? ", transparent" : ""));
          PngFile file = all_colours(depth, palette_chunk(colours) + (transparent ? png_chunk("tRNS", "\x40") : ""));
          file.interlaced = interlaced;
          fill_stack();
          const Image image = decode_image(bytes_of(file.str()), "png");
          REQUIRE(image.width == file.width);
          REQUIRE(image.height == file.height);
          CHECK(image.pixels == looked_up(file.samples, colours));
        }
      }
    }
  }
}

TEST_CASE("png: a palette that is damaged, missing or late is refused", "[image]") {
  const auto with = [](const std::string& before) { return picture_refusal(all_colours(2, before).str()); };
  CHECK(with(palette_chunk(4)) == "accepted");
  CHECK_THAT(with(png_chunk("PLTE", "12345678")), Contains("some picture") && Contains("palette of 8 bytes"));
  CHECK_THAT(with(png_chunk("PLTE", "")), Contains("some picture") && Contains("palette of 0 bytes"));
  CHECK_THAT(with(palette_chunk(257)), Contains("some picture") && Contains("palette of 771 bytes"));
  CHECK_THAT(with(""), Contains("some picture") && Contains("no palette"));
  CHECK_THAT(with(palette_chunk(4) + palette_chunk(4)), Contains("some picture") && Contains("two palettes"));
  PngFile late = all_colours(2, "");
  late.after = palette_chunk(4);
  CHECK_THAT(picture_refusal(late.str()), Contains("some picture") && Contains("no palette"));
  // Transparency of more colors than there are, and before them.
  CHECK_THAT(with(palette_chunk(2) + png_chunk("tRNS", "123")), Contains("some picture") && Contains("tRNS"));
  CHECK_THAT(with(png_chunk("tRNS", "1") + palette_chunk(2)), Contains("some picture") && Contains("tRNS"));

  // A palette that a grey picture doesn't need is checked, but not looked at.
  PngFile grey = all_colours(2, palette_chunk(4));
  grey.colour = 0;
  CHECK(decode_image(bytes_of(grey.str()), "grey").pixels[3] == 85);
  grey.before = png_chunk("PLTE", "1234");
  CHECK_THAT(picture_refusal(grey.str()), Contains("palette of 4 bytes"));
}

TEST_CASE("png: rows that are missing are an error", "[image]") {
  for (const int depth : {1, 2, 4, 8}) {
    for (const bool interlaced : {false, true}) {
      PngFile file{
          .width = 9, .height = 9, .depth = depth, .interlaced = interlaced, .samples = std::vector<uint8_t>(81)};
      file.before = palette_chunk(2);
      REQUIRE(picture_refusal(file.str()) == "accepted");
      for (file.cut = 1; file.cut < 10; ++file.cut) {
        INFO(depth << " bits, " << file.cut << " bytes missing");
        CHECK_THAT(picture_refusal(file.str()), Contains("some picture") && Contains("damaged"));
      }
    }
  }
}

TEST_CASE("png: compressed pixels that are not sound are an error", "[image]") {
  // Deflate's distance code 30, which stands for none: in a block of fixed codes a literal 0, then length 10 at that
  // distance, so that nothing but zeros or uninitialized memory could follow.
  PngFile file{.width = 10, .height = 1, .colour = 0, .samples = std::vector<uint8_t>(10)};
  file.type_of_pixels = "none";
  const auto with = [&](const std::string& packed) {
    file.before = png_chunk("IDAT", packed);
    return picture_refusal(file.str());
  };
  const auto bits = [](const std::string& text) {
    std::string bytes = "\x78\x9c";
    for (size_t i = 0; i < text.size(); ++i) {
      if (i % 8 == 0) bytes += '\0';
      if (text[i] == '1') bytes.back() = static_cast<char>(bytes.back() | 1 << i % 8);
    }
    return bytes + std::string(8, '\0');
  };
  // Last block, fixed codes; literal 0; length 10, which is 264; the distance; end of the block.
  const std::string begin = std::string("1") + "10" + "00110000" + "0001000", end = "0000000";
  CHECK_THAT(with(bits(begin + "11110" + end)), Contains("some picture") && Contains("not sound"));
  CHECK_THAT(with(bits(begin + "11111" + end)), Contains("some picture") && Contains("not sound"));
  CHECK_THAT(with(bits(begin + "00000" + end)), Contains("not sound"));  // sound but for its check sum
  CHECK(with(bits(begin + "00000" + end).substr(0, 8)) == "accepted");   // which may be cut

  // A picture behind which there is more than any picture needs.
  std::string bomb(1 << 22, '\0');
  uLongf size = compressBound(static_cast<uLong>(bomb.size()));
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bomb.data()),
           static_cast<uLong>(bomb.size()));
  CHECK_THAT(with(packed.substr(0, size)), Contains("some picture"));
}

TEST_CASE("png: chunks out of order, and those that a decoder must know, are refused by name", "[image]") {
  const std::string palette = palette_chunk(4), signature = "\x89PNG\r\n\x1a\n";
  CHECK_THAT(picture_refusal(all_colours(2, palette + png_chunk("FANC", "")).str()),
             Contains("some picture") && Contains("chunk FANC"));
  CHECK(picture_refusal(all_colours(2, palette + png_chunk("faNC", "?")).str()) == "accepted");
  const PngFile file = all_colours(2, palette);
  std::string apple = file.str();
  apple.insert(signature.size(), png_chunk("CgBI", "\x50"));
  CHECK_THAT(picture_refusal(apple), Contains("some picture") && Contains("chunk CgBI"));
  CHECK_THAT(picture_refusal(signature + palette + png_chunk("IEND", "")), Contains("IHDR"));
  CHECK_THAT(picture_refusal(signature + png_chunk("IHDR", "1234") + png_chunk("IEND", "")), Contains("IHDR"));
  CHECK_THAT(picture_refusal(all_colours(2, palette + file.header()).str()), Contains("IHDR"));
  CHECK_THAT(picture_refusal(signature + file.header() + palette + png_chunk("IEND", "")), Contains("damaged"));
  // A name of four bytes that can't be printed.
  CHECK_THAT(picture_refusal(all_colours(2, png_chunk("\xFF"
                                                      "\n\0\x80",
                                                      ""))
                                 .str()),
             Contains("some picture"));
}

// The letters of a picture in its eight positions, looked at: a, b in the first row, c, d, e, f below.
TEST_CASE("png: the orientation of its eXIf chunk is applied as a JPEG's is", "[image]") {
  const char* const turned[8] = {"ab/cd/ef", "ba/dc/fe", "fe/dc/ba", "ef/cd/ab",
                                 "ace/bdf",  "eca/fdb",  "fdb/eca",  "bdf/ace"};
  constexpr uint16_t kTag = 0x0112, kShort = 3;
  PngFile file{.width = 2, .height = 3, .colour = 0, .samples = {'a', 'b', 'c', 'd', 'e', 'f'}};
  const auto read = [](const PngFile& png) {
    const Image image = decode_image(bytes_of(png.str()), "png");
    std::string text;
    for (int y = 0; y < image.height; ++y) {
      if (y > 0) text += '/';
      for (int x = 0; x < image.width; ++x) {
        text += static_cast<char>(image.pixels[static_cast<size_t>((y * image.width + x) * 3)]);
      }
    }
    return text;
  };
  CHECK(read(file) == turned[0]);
  for (const bool little : {true, false}) {
    for (uint16_t orientation = 1; orientation <= 8; ++orientation) {
      INFO(orientation << (little ? ", little" : ", big"));
      const std::string tiff = tiff_bytes(little, 8, 1, kTag, kShort, orientation);
      PngFile before = file, after = file, prefixed = file;
      before.before = png_chunk("eXIf", tiff);
      after.after = png_chunk("eXIf", tiff);
      prefixed.before = png_chunk("eXIf", std::string("Exif\0\0", 6) + tiff);  // as some programs write it
      CHECK(read(before) == turned[orientation - 1]);
      CHECK(read(after) == turned[orientation - 1]);
      CHECK(read(prefixed) == turned[orientation - 1]);
    }
    // What can't be read counts as none, as in a JPEG; of two, the first counts.
    PngFile odd = file;
    for (const uint16_t none : {0, 9, 255}) {
      odd.before = png_chunk("eXIf", tiff_bytes(little, 8, 1, kTag, kShort, none));
      CHECK(read(odd) == turned[0]);
    }
    const std::string whole = tiff_bytes(little, 8, 1, kTag, kShort, 6);
    for (size_t length = 0; length < whole.size(); ++length) {
      odd.before = png_chunk("eXIf", whole.substr(0, length));
      CHECK(read(odd) == turned[0]);
    }
    odd.before = png_chunk("eXIf", tiff_bytes(little, 0xFFFFFFF0, 1, kTag, kShort, 6));
    CHECK(read(odd) == turned[0]);
    odd.before = png_chunk("eXIf", whole) + png_chunk("eXIf", tiff_bytes(little, 8, 1, kTag, kShort, 3));
    CHECK(read(odd) == turned[5]);
  }
  PngFile odd = file;
  // A check sum that does not fit is an error there as in every chunk.
  odd.before = png_chunk("eXIf", tiff_bytes(true, 8, 1, kTag, kShort, 6));
  odd.before.back() ^= 1;
  CHECK_THAT(picture_refusal(odd.str()), Contains("check sum"));
}

}  // namespace
}  // namespace dnn
