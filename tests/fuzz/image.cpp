#include <libdnn/data/image.h>

#include <zlib.h>

#include <cstdlib>

#include <kernels/error.h>

#include "readers.h"

namespace dnn::fuzz {
namespace {

// Gives the chunks of a PNG the check sums they ought to have, which no fuzzer would find.
void mend_check_sums(std::string& file) {
  constexpr size_t kSignature = 8, kAround = 12;
  const auto byte = [&](size_t at) { return size_t{static_cast<uint8_t>(file[at])}; };
  if (!file.starts_with("\x89PNG")) return;
  for (size_t at = kSignature; at + kAround <= file.size();) {
    const size_t length = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (length > file.size() - at - kAround) return;
    const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(&file[at + 4]), 4 + length);
    for (size_t i = 0; i < 4; ++i) file[at + 8 + length + i] = static_cast<char>(sum >> 8 * (3 - i));
    at += kAround + length;
  }
}

}  // namespace

void image(const std::string& bytes) {
  constexpr int64_t kMaxPixels = 1 << 16;
  std::string file = bytes;
  mend_check_sums(file);
  try {
    const Image image = decode_image({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, "bytes", kMaxPixels);
    const int64_t pixels = int64_t{image.height} * image.width;
    if (pixels < 1 || pixels > kMaxPixels || static_cast<int64_t>(image.pixels.size()) != 3 * pixels) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace dnn::fuzz
