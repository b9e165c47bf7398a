#pragma once
#include <array>

#include <libdnn/core/tensor.h>

namespace dnn {

// Pictures x (N, H, W, C) brought to another size (height, width), larger or smaller.
// Nearest: pixel i of OH takes pixel floor(i * H / OH).
Tensor upsample_nearest(const Tensor& x, std::array<int, 2> size);

// torch's mode "nearest-exact", which is also Pillow's: pixel i takes floor((i + 0.5) * H / OH), the one under
// its center.
Tensor upsample_nearest_exact(const Tensor& x, std::array<int, 2> size);

// Bilinear: between the four pixels next to it. Pixels are squares and the picture's outer edges stay, or, with
// align_corners, the centers of its corner pixels do.
Tensor upsample_bilinear(const Tensor& x, std::array<int, 2> size, bool align_corners = false);

// The same by factors above 0 (height, width), as torch has it: H * factor rounded down is the size, but pixel i is
// taken from i / factor, or (i + 0.5) / factor. Bilinear with align_corners depends on the size alone.
Tensor upsample_nearest_by(const Tensor& x, std::array<double, 2> factor);
Tensor upsample_nearest_exact_by(const Tensor& x, std::array<double, 2> factor);
Tensor upsample_bilinear_by(const Tensor& x, std::array<double, 2> factor, bool align_corners = false);

}  // namespace dnn
