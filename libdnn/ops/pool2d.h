#pragma once
#include <array>

#include <libdnn/core/tensor.h>

namespace dnn {

struct Pool2dOptions {
  std::array<int, 2> window{1, 1};         // height, width
  std::array<int, 2> stride{0, 0};         // 0: the window
  std::array<int, 4> padding{0, 0, 0, 0};  // top, left, bottom, right
  std::array<int, 2> dilation{1, 1};       // largest only: from a cell of the window to the next
  bool ceil_mode = false;                  // round the output size up, as Caffe does
  bool count_include_pad = true;           // average: cells in the padding count; the overhang of ceil_mode never does
};

// The largest, or the mean, of each window: x (N, H, W, C), y (N, OH, OW, C). Padding is minus infinity for the
// largest, 0 for the mean. A window that has no cell in the picture, as dilation can make it, gives minus infinity.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options);

}  // namespace dnn
