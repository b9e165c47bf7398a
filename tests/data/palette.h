#pragma once
#include <algorithm>
#include <numeric>

#include "pictures.h"

namespace dnn {

inline std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The message that refuses a picture, or "accepted".
inline std::string picture_refusal(const std::string& content, int64_t max_pixels = kMaxImagePixels) {
  try {
    decode_image(bytes_of(content), "some picture", max_pixels);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

// Fills the stack below the caller, so that what a decoder leaves uninitialized is not 0 by chance.
[[gnu::noinline]] inline void fill_stack() {
  volatile uint8_t bytes[1 << 16];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = 0xA5;
}

// Colour i of a palette.
constexpr int colour_of(int i, int channel) { return (i * 3 + channel + 1) % 256; }

// 0, 1, ..., 2^bits - 1, in rows of 16 or fewer.
inline std::vector<uint8_t> all_indices(int bits) {
  std::vector<uint8_t> indices(size_t{1} << bits);
  std::iota(indices.begin(), indices.end(), uint8_t{0});
  return indices;
}

// Those indices looked up in a palette of `colours`; black beyond it.
inline std::vector<uint8_t> looked_up(const std::vector<uint8_t>& indices, int colours) {
  std::vector<uint8_t> pixels;
  for (const uint8_t index : indices) {
    for (int c = 0; c < 3; ++c) pixels.push_back(static_cast<uint8_t>(index < colours ? colour_of(index, c) : 0));
  }
  return pixels;
}

}  // namespace dnn
