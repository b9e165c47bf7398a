#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace dnn {

struct JpegHeader {
  int components = 0;   // 1: grey, 3: colour, 4: CMYK or YCCK
  bool adobe = false;   // whether Adobe's segment says how the components are coded
  int orientation = 1;  // EXIF's: 1 to 8, and 1 where there is none or it can't be read
};

// Reads the segments of a JPEG up to its end mark, and checks what stb_image takes on trust: that a Huffman table has
// fewer than 256 codes and lies in its segment. Error with `name` otherwise, or where a segment is cut.
JpegHeader read_jpeg_header(std::span<const uint8_t> file, const std::string& name);

}  // namespace dnn
