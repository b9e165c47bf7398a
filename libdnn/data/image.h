#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dnn {

// A picture of 8-bit RGB, row-major: pixels[(row * width + column) * 3 + channel].
struct Image {
  int height = 0, width = 0;
  std::vector<uint8_t> pixels;
};

// Error where the picture has no pixel, or not 3 bytes for each.
void check_image(const char* op, const Image& image);

// Error, naming the file, where a picture of this size is none or has more than `max_pixels`.
void check_image_size(const std::string& name, int64_t width, int64_t height, int64_t max_pixels);

// Larger pictures are refused before memory is taken for them, unless one asks for another limit.
constexpr int64_t kMaxImagePixels = int64_t{1} << 27;

// Reads a JPEG (baseline or progressive, 8 bits), PNG or BMP (not run-length coded) file; the content says which, not
// the name. Every picture arrives in the one form: grey three times, palettes looked up, alpha dropped (not blended
// with a background), of 16 bits the upper 8, CMYK and YCCK as PIL's convert("RGB") has them. A pixel whose color the
// palette does not have is black. The EXIF orientation of a JPEG or PNG (chunk eXIf) is applied: the first row is the
// one on top when the picture is looked at; a damaged EXIF part counts as none. What is no such file, cut or damaged
// throws Error with the file's name.
Image read_image(const std::string& path, int64_t max_pixels = kMaxImagePixels);

// The same from memory; `name` stands for the file's in errors.
Image decode_image(std::span<const uint8_t> file, const std::string& name, int64_t max_pixels = kMaxImagePixels);

}  // namespace dnn
