#pragma once
#include <span>

#include <libdnn/data/image.h>

namespace dnn {

// The picture in a JPEG or PNG file as stb_image decodes it. Error, with `name`, where it finds a fault, the
// picture is larger than `max_pixels`, or the file ends before the picture does.
Image stb_decode(std::span<const uint8_t> file, const std::string& name, int64_t max_pixels);

}  // namespace dnn
