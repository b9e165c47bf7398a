#include <libdnn/data/jpeg_header.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <kernels/error.h>

namespace dnn {
namespace {

using Bytes = std::span<const uint8_t>;

bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin(),
                                                   [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

// The start of a frame, for every way of coding it; C4, C8 and CC are tables and an extension.
bool is_frame_header(uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// Markers before segments. FF 00 is a byte of coded data, D0 to D7 stand in it, D8 begins a file, and 01 to BF and F0
// to FD are for nothing that we read.
bool has_length(uint8_t marker) {
  return marker >= 0xC0 && (marker < 0xD0 || marker > 0xD8) && (marker < 0xF0 || marker == 0xFE);
}

// ITU-T T.81, B.2.4.2: each table has its number, 16 counts of codes, and a byte for each code. No table needs 256 of
// them, and stb_image takes the last of so many for a mark of its own.
void check_huffman_tables(Bytes tables, const std::string& name) {
  constexpr size_t kHead = 17, kMostCodes = 255;
  while (!tables.empty()) {
    size_t codes = 0;
    for (size_t i = 1; i < std::min(kHead, tables.size()); ++i) codes += tables[i];
    if (codes > kMostCodes || tables.size() < kHead + codes) {
      throw Error(fmt::format("[image] {} is damaged: a Huffman table does not fit", name));
    }
    tables = tables.subspan(kHead + codes);
  }
}

// Numbers in the byte order that a TIFF header begins with. The caller has checked that they lie within.
struct TiffNumbers {
  Bytes bytes;
  bool little;

  uint32_t at16(size_t at) const {
    return little ? bytes[at] | uint32_t{bytes[at + 1]} << 8 : uint32_t{bytes[at]} << 8 | bytes[at + 1];
  }
  uint32_t at32(size_t at) const { return little ? at16(at) | at16(at + 2) << 16 : at16(at) << 16 | at16(at + 2); }
};

}  // namespace

int exif_orientation(Bytes tiff) {
  constexpr size_t kHeader = 8, kEntry = 12;
  constexpr uint32_t kOrientation = 0x0112, kShort = 3;
  const bool little = starts_with(tiff, std::string_view("II*\0", 4)),
             big = starts_with(tiff, std::string_view("MM\0*", 4));
  if ((!little && !big) || tiff.size() < kHeader) return 1;
  const TiffNumbers numbers{tiff, little};

  const size_t directory = numbers.at32(4);
  if (directory > tiff.size() - 2) return 1;
  const size_t count = numbers.at16(directory), begin = directory + 2;
  const size_t within = std::min(count, (tiff.size() - begin) / kEntry);
  for (size_t i = 0; i < within; ++i) {
    const size_t entry = begin + i * kEntry;
    if (numbers.at16(entry) != kOrientation) continue;
    if (numbers.at16(entry + 2) != kShort || numbers.at32(entry + 4) != 1) return 1;
    const uint32_t value = numbers.at16(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

JpegHeader read_jpeg_header(Bytes file, const std::string& name) {
  constexpr uint8_t kFill = 0xFF, kHuffmanTables = 0xC4, kEnd = 0xD9, kApp1 = 0xE1, kApp14 = 0xEE;
  constexpr std::string_view kExif("Exif\0\0", 6);
  JpegHeader header;
  bool exif = false;
  // Everything between segments is looked through for the next marker: coded data, and padding.
  for (size_t at = 2; at + 1 < file.size();) {
    const uint8_t marker = file[at + 1];
    if (file[at] != kFill || marker == kFill) {
      ++at;
      continue;
    }
    if (marker == kEnd) break;
    if (!has_length(marker)) {
      at += 2;
      continue;
    }
    const size_t left = file.size() - at - 2;
    const size_t length = left < 2 ? 0 : size_t{file[at + 2]} << 8 | file[at + 3];
    if (length < 2 || length > left) throw Error(fmt::format("[image] {} is cut within a segment", name));
    const Bytes content = file.subspan(at + 4, length - 2);
    if (is_frame_header(marker) && content.size() >= 6) header.components = content[5];
    if (marker == kHuffmanTables) check_huffman_tables(content, name);
    if (marker == kApp14 && starts_with(content, "Adobe")) header.adobe = true;
    if (marker == kApp1 && !exif && starts_with(content, kExif)) {
      header.orientation = exif_orientation(content.subspan(kExif.size()));
      exif = true;
    }
    at += 2 + length;
  }
  return header;
}

}  // namespace dnn
