#pragma once
#include <cstdint>
#include <string>

namespace dnn {

// EXIF's TIFF part with one entry: `directory` is where it says that its entries are, which is 8.
inline std::string tiff_bytes(bool little, uint32_t directory, uint16_t count, uint16_t tag, uint16_t type,
                              uint16_t value) {
  std::string text = little ? "II" : "MM";
  const auto number = [&](uint32_t n, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(n >> 8 * (little ? i : bytes - 1 - i));
  };
  number(42, 2);
  number(directory, 4);
  number(count, 2);
  number(tag, 2);
  number(type, 2);
  number(1, 4);
  number(value, 2);
  number(0, 2);
  return text;
}

}  // namespace dnn
