#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dnn {

struct PngHeader {
  int orientation = 1;     // EXIF's, of the first eXIf chunk: 1 to 8, and 1 where there is none or it can't be read
  size_t palette = 0;      // where the chunk PLTE begins in the file
  int missing_colors = 0;  // how many colors a pixel can ask for that the palette does not have
};

// Reads the chunks of a PNG up to its end mark, and checks what stb_image takes on trust: check sums, the palette, that
// a decoder knows every chunk that it must, and that the compressed pixels are sound (a distance that does not exist
// makes stb_image copy memory that nothing was written to). Error with `name` otherwise, where the file is cut, or
// where the picture is larger than `max_pixels`.
PngHeader read_png_header(std::span<const uint8_t> file, const std::string& name, int64_t max_pixels);

// The file with black for the colors that its palette does not have. Its check sum is left as it was.
std::vector<uint8_t> with_whole_palette(std::span<const uint8_t> file, const PngHeader& header);

}  // namespace dnn
