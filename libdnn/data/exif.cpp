#include <libdnn/data/exif.h>

#include <algorithm>
#include <string_view>

namespace dnn {
namespace {

using Bytes = std::span<const uint8_t>;

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

bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin(),
                                                   [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

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

}  // namespace dnn
