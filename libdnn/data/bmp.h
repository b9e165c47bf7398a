#pragma once
#include <span>

#include <libdnn/data/image.h>

namespace dnn {

// The picture in a BMP file: 1, 4, 8, 16, 24 or 32 bits a pixel, from the bottom up or the top down, with a header of
// Windows or OS/2, not run-length coded. A pixel whose color the palette does not have is black, as PIL makes it.
// Error, with `name`, where the file is damaged, cut or of another kind, or larger than `max_pixels`.
Image decode_bmp(std::span<const uint8_t> file, const std::string& name, int64_t max_pixels);

}  // namespace dnn
