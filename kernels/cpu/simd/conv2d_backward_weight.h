#pragma once
#include <algorithm>
#include <cstdint>

#include <kernels/cpu/per_isa.h>
#include <kernels/parallel.h>
#include <kernels/shapes.h>

// The inner loops of the weight gradient. A tile of dw, a few filters times one to three vectors along the weights'
// contiguous (c) or (s, c) run, stays in registers while the pixels of a block run by: each pixel loads the vectors of
// x and broadcasts the filters' values of dy. The tile is added to dw in place. Where a pixel's values lie so far from
// the next one's that they would meet in few sets of the cache, they are copied together first.
namespace dnn::cpu {

// dw[f][r][s][run] += sum over pixels of dy[pixel][f] * x[pixel + tap (r, s)][run]. Pixels are those of y in some rows
// of some pictures. Tap (r, s) of y's pixel (row, column) is at position (row * stride_h + r * dilation_h, ...) of x.
// Steps count elements.
struct WeightGradientBlock {
  const float* x;
  int64_t x_first;  // offset of the first picture's position (0, 0), may be negative
  int64_t x_picture, x_row, x_column;
  int64_t stride_h, stride_w, dilation_h, dilation_w;
  Range x_rows, x_columns;  // the positions that are in the picture
  const float* dy;          // the first picture's pixel (0, 0)
  int64_t dy_picture, dy_row, dy_column;
  float* dw;
  int64_t dw_filter;  // from one filter to the next
  int filters, r, s, run;
  int pictures;
  Range rows;
  int columns;               // of y
  const Range* tap_rows;     // for each r: the rows of y whose tap is in the picture
  const Range* tap_columns;  // for each s
  float* x_panel;            // room to copy a panel of x to (panel_count), or null
  float* dy_groups;          // room to copy dy to (filters * pixels + kGroupSlack), or null
  bool another_follows;      // a block of the same size, behind this one in x and dy: fetch it ahead
};

constexpr int kMaxPanel = 3 * 16;
constexpr int64_t kGroupSlack = 16;  // copies are whole vectors

// The rows of x that a block needs.
inline Range positions(const WeightGradientBlock& b) {
  return {std::max(b.x_rows.begin, b.rows.begin * b.stride_h),
          std::min(b.x_rows.end, (b.rows.end - 1) * b.stride_h + (b.r - 1) * b.dilation_h + 1)};
}

struct WeightGradientLoops {
  int lanes;
  int group;  // filters that tiles divide evenly
  void (*add_block)(const WeightGradientBlock&);
  // patches[i][r][s][c] = the values of x under the filter at pixel first + i of y, 0 outside the picture: im2col for a
  // block of pixels and the channels of one group, which `x` points to. Writes up to lanes - 1 values beyond a patch;
  // `pitch` holds them.
  void (*gather_patches)(const Conv2dShape&, int64_t first, int64_t count, const float* x, int64_t pitch,
                         float* patches);
  void (*add_parts)(int64_t count, int64_t parts, const float* partial, int64_t part_step, float* dw);  // in order
};

extern const PerIsa<WeightGradientLoops> weight_gradient_loops;

}  // namespace dnn::cpu
