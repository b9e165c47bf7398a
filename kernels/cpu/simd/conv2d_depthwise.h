#pragma once
#include <cstdint>

#include <kernels/cpu/per_isa.h>
#include <kernels/epilogue.h>
#include <kernels/parallel.h>

// The inner loops of the depthwise convolution with one filter a channel. A vector holds channels; a tile is a few
// pixels of a row of y. The picture is not padded: columns near its sides are taken one by one with fewer taps.
namespace dnn::cpu {

// y[row][column][c] = sum over r, s of w[r][s][c] * x[row * stride_h + r * dilation_h - pad_top][...][c], 0 for x
// outside. Padding may be negative. Steps count elements.
struct DepthwisePass {
  int h, w, oh, ow, r, s;
  int stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int channels;
  int64_t x_column, x_row, x_picture;
  int64_t y_column, y_row, y_picture;
  int64_t y_first;          // of pixel (0, 0) of the first picture
  const float* w_channels;  // w as [r][s][channels]
};

struct DepthwiseLoops {
  // Rows [rows.begin, rows.end) of one picture; y's offsets hold for the residual too.
  void (*forward)(const DepthwisePass&, int64_t picture, Range rows, const float* x, const Epilogue<float>&, float* y);
  // sums[r][s][c] += sum over the rows' pixels of dy[row][column][c] * x[...][c], with the rows of all pictures
  // numbered through and y's steps for dy.
  void (*backward_weight)(const DepthwisePass&, Range rows, const float* x, const float* dy, float* sums);
};

extern const PerIsa<DepthwiseLoops> depthwise_loops;

}  // namespace dnn::cpu
