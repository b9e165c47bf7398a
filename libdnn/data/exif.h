#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace dnn {

// Whether the bytes begin with those of the text.
bool starts_with(std::span<const uint8_t> bytes, std::string_view text);

// The value of the tag Orientation, 1 to 8, in a TIFF header and its first directory (CIPA DC-008, 4.5 and 4.6.4), as a
// JPEG's APP1 segment holds them after "Exif\0\0" and a PNG's eXIf chunk; 1 where there is none or it can't be read.
int exif_orientation(std::span<const uint8_t> tiff);

}  // namespace dnn
