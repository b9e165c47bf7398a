#pragma once
#include <libdnn/data/image.h>
#include <libdnn/data/preprocess.h>

namespace dnn {

// The picture in another size, pixel for pixel as PIL's Image.resize makes it. Bilinear and bicubic (Keys, 1981, with
// a = -1/2) are separable: rows first, then columns, each in fixed point and rounded to 8 bits; the filter is widened
// by the factor that a side shrinks by. Nearest takes the pixel under the centre of the new one.
Image resize(const Image& image, int height, int width, Interpolation interpolation);

}  // namespace dnn
