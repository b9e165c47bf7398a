#pragma once
#include <cstdint>

#include <kernels/backend.h>

// Direct convolution over N, H, W, C, without im2col. The forward pass and the input gradient are both brought to the
// form below; see conv2d.cpp.
namespace dnn::cpu {

// y[n][oh][ow][g*k + kk] = epilogue(sum over r, s, c of x[n][oh * stride_h - pad_top + r * dilation_h][...][g*c + cc] *
// w[g][kk][r][s][cc]), 0 for x outside its picture. Channels are those of one group; padding may be negative; y's
// pixels lie anywhere that three steps reach.
struct DirectConv {
  int n, h, w, c, k, r, s;
  int stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w, groups;
  int oh, ow;
  int64_t x_pitch;
  int64_t y_step, y_row, y_picture;  // elements from a pixel, row, picture of y to the next
};

// Where w[g][k][r][s][c] lies: at data + g * group + k * k_step + ...
struct FilterView {
  const float* data;
  int64_t group, k_step, r_step, s_step, c_step;
};

const char* direct_structure(const Context& context, const DirectConv& conv);  // "rows", "pixels" or "pointers"

// `packed` holds direct_packed_count() values, by pack_filters() of conv2d_panels.h.
int64_t direct_packed_count(Context& context, const DirectConv& conv);
void conv2d_direct(Context& context, const DirectConv& conv, const float* packed, const float* x,
                   const Epilogue<float>& epilogue, float* y);

}  // namespace dnn::cpu
