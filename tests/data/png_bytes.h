#pragma once
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dnn {

inline std::string big_endian(uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

// A PNG's chunk with its length and check sum.
inline std::string png_chunk(const std::string& type, const std::string& content) {
  const std::string typed = type + content;
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(typed.data()), typed.size());
  return big_endian(static_cast<uint32_t>(content.size())) + typed + big_endian(static_cast<uint32_t>(sum));
}

// A PNG of one sample a pixel, grey (colour 0) or of a palette (colour 3). The chunks come as they are given.
struct PngFile {
  int width = 1, height = 1, depth = 8, colour = 3;
  bool interlaced = false;
  std::vector<uint8_t> samples;  // row by row
  std::string before = {};       // chunks before the pixels
  std::string after = {};        // chunks behind them
  size_t cut = 0;                // bytes missing at the end of the rows, before they are compressed
  std::string type_of_pixels = "IDAT";

  std::string header() const {
    std::string content = big_endian(static_cast<uint32_t>(width)) + big_endian(static_cast<uint32_t>(height));
    for (const int value : {depth, colour, 0, 0, interlaced ? 1 : 0}) content += static_cast<char>(value);
    return png_chunk("IHDR", content);
  }

  // The rows of every `dy`-th line and `dx`-th column, without a filter.
  void add_pass(std::string& rows, int top, int left, int dy, int dx) const {
    for (int y = top; y < height && left < width; y += dy) {
      rows += '\0';
      int byte = 0, bits = 0;
      for (int x = left; x < width; x += dx) {
        byte = byte << depth | samples[static_cast<size_t>(y * width + x)];
        bits += depth;
        if (bits == 8 || x + dx >= width) {
          rows += static_cast<char>(byte << (8 - bits));
          byte = bits = 0;
        }
      }
    }
  }

  std::string str() const {
    std::string rows;
    if (interlaced) {  // Adam7
      constexpr int kPasses[7][4] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                     {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
      for (const auto& pass : kPasses) add_pass(rows, pass[0], pass[1], pass[2], pass[3]);
    } else {
      add_pass(rows, 0, 0, 1, 1);
    }
    rows.resize(rows.size() - cut);
    uLongf size = compressBound(static_cast<uLong>(rows.size()));
    std::string packed(size, '\0');
    compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
             static_cast<uLong>(rows.size()));
    packed.resize(size);
    return "\x89PNG\r\n\x1a\n" + header() + before + png_chunk(type_of_pixels, packed) + after + png_chunk("IEND", "");
  }
};

}  // namespace dnn
