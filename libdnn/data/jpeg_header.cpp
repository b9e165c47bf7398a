#include <libdnn/data/jpeg_header.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <kernels/error.h>
#include <libdnn/data/exif.h>

namespace dnn {
namespace {

using Bytes = std::span<const uint8_t>;

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

}  // namespace

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
