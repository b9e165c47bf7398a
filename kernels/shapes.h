#pragma once
#include <array>
#include <cstdint>

namespace dnn {

// What a kernel is told about its operands. All activations are N, H, W, C, dense but for the pitches; sizes count
// elements, flops() counts a multiplication and an addition as two, bytes() is what one pass must read and write at
// least for an element of `size` bytes. check() throws Error, in the name of `op`, where the fields make no valid
// operation; the operations of libdnn call it once, kernels rely on it.

struct Conv2dShape {
  int n = 1, h = 0, w = 0, c = 0;  // input: pictures, rows, columns, channels
  int k = 0, r = 1, s = 1;         // weight (k, r, s, c / groups): filters, rows, columns
  int stride_h = 1, stride_w = 1;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int dilation_h = 1, dilation_w = 1;
  int groups = 1;
  int x_stride = 0, y_stride = 0;  // elements from a pixel to the next; 0: c and k, that is dense

  int oh() const { return (h + pad_top + pad_bottom - dilation_h * (r - 1) - 1) / stride_h + 1; }
  int ow() const { return (w + pad_left + pad_right - dilation_w * (s - 1) - 1) / stride_w + 1; }
  int x_pitch() const { return x_stride ? x_stride : c; }
  int y_pitch() const { return y_stride ? y_stride : k; }
  bool depthwise() const { return groups == c && groups > 1; }  // k may be a multiple of c
  int64_t x_pixels() const { return int64_t{n} * h * w; }
  int64_t y_pixels() const { return int64_t{n} * oh() * ow(); }
  int64_t w_count() const { return int64_t{k} * r * s * (c / groups); }
  double flops() const {
    const int depth = c / groups;
    return 2.0 * static_cast<double>(y_pixels()) * k * r * s * depth;
  }
  int64_t bytes(int size) const { return size * (x_pixels() * c + w_count() + y_pixels() * k); }
  void check(const char* op = "conv2d") const;
};

// How a row of backends laid out a weight for conv2d_forward_packed.
struct Conv2dPacking {
  int method = 0;     // the row's own number
  int64_t count = 0;  // values
};

// A depthwise convolution whose one filter (r, s) and one bias serve all channels: the "subsample" layer of LeNet-5's
// kind. Uses Conv2dShape with k == c == groups.

struct Pool2dShape {
  int n = 1, h = 0, w = 0, c = 0;
  int r = 1, s = 1;  // window
  int stride_h = 1, stride_w = 1;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool ceil_mode = false;              // round the output size up, as Caffe does
  bool count_include_pad = true;       // average: divide by the cells of the window that lie in the padded picture
  int dilation_h = 1, dilation_w = 1;  // maximum: from a cell of the window to the next
  int x_stride = 0, y_stride = 0;

  bool dilated() const { return dilation_h > 1 || dilation_w > 1; }
  int extent_h() const { return dilation_h * (r - 1) + 1; }  // what a window spans
  int extent_w() const { return dilation_w * (s - 1) + 1; }
  // A last window that would start beyond the picture and its left padding is dropped (Caffe, PyTorch). With ceil_mode
  // a window may be larger than the padded picture, by less than the stride.
  int oh() const { return out_size(h, extent_h(), stride_h, pad_top, pad_bottom); }
  int ow() const { return out_size(w, extent_w(), stride_w, pad_left, pad_right); }
  int x_pitch() const { return x_stride ? x_stride : c; }
  int y_pitch() const { return y_stride ? y_stride : c; }
  int64_t x_pixels() const { return int64_t{n} * h * w; }
  int64_t y_pixels() const { return int64_t{n} * oh() * ow(); }
  bool byte_index() const {
    return int64_t{r} * s <= 256;
  }  // max pooling's index of the largest cell: uint8, else int32
  double flops() const { return static_cast<double>(y_pixels()) * c * r * s; }
  int64_t bytes(int size) const { return int64_t{size} * c * (x_pixels() + y_pixels()); }
  void check(const char* op = "pool2d") const;

 private:
  // By how many places the last window may hang over the padded picture.
  int overhang(int stride) const { return ceil_mode ? stride - 1 : 0; }
  int out_size(int in, int window, int stride, int pad_begin, int pad_end) const {
    const int64_t span = int64_t{in} + pad_begin + pad_end - window + overhang(stride);
    const int64_t out = (span + stride) / stride;
    return static_cast<int>(ceil_mode && (out - 1) * stride >= int64_t{in} + pad_begin ? out - 1 : out);
  }
};

// C (m, n) = alpha * op(A) op(B) + beta * C, row-major; op(A) is m x k, op(B) is k x n. Where `trans_a`, A is stored
// k x m; where `trans_b`, B is stored n x k. Leading dimensions 0: dense.
struct GemmShape {
  int m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  int lda = 0, ldb = 0, ldc = 0;
  double alpha = 1, beta = 0;  // beta 0: C is not read

  int a_pitch() const { return lda ? lda : (trans_a ? m : k); }
  int b_pitch() const { return ldb ? ldb : (trans_b ? k : n); }
  int c_pitch() const { return ldc ? ldc : n; }
  double flops() const { return 2.0 * m * n * k; }
  int64_t bytes(int size) const { return size * (int64_t{m} * k + int64_t{k} * n + int64_t{m} * n); }
  void check(const char* op = "gemm") const;
};

// `rows` rows of `cols` values: softmax over each row, a bias for each column, ...
struct RowsShape {
  int64_t rows = 0;
  int cols = 0;
  int64_t count() const { return rows * cols; }
};

// Local response normalisation over `size` neighbouring channels, cut off at the first and the last:
// y = x * (k + alpha / size * sum of x^2) ^ -beta.
struct LrnShape {
  int64_t rows = 0;
  int cols = 0;
  int size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;
  int64_t count() const { return rows * cols; }
  void check(const char* op = "lrn") const;
};

// Pictures and one factor for each of their channels.
struct ChannelScaleShape {
  int n = 1;
  int64_t pixels = 0;
  int c = 0;
  int64_t count() const { return n * pixels * c; }
};

// Pictures (n, h, w, c) brought to (n, oh, ow, c).
struct ResizeShape {
  int n = 1, h = 0, w = 0, c = 0;
  int oh = 0, ow = 0;
  bool align_corners = false;       // bilinear: the corner pixels' centres stay, else their outer edges
  double scale_h = 0, scale_w = 0;  // upsampling: pixels of the result for one of x; 0: oh / h and ow / w
  int64_t x_pixels() const { return int64_t{n} * h * w; }
  int64_t y_pixels() const { return int64_t{n} * oh * ow; }
  void check(const char* op = "resize") const;
};

// Pictures with borders added, or, where negative, taken away.
struct Pad2dShape {
  int n = 1, h = 0, w = 0, c = 0;
  int top = 0, left = 0, bottom = 0, right = 0;
  int oh() const { return h + top + bottom; }
  int ow() const { return w + left + right; }
  Pad2dShape back() const { return {n, oh(), ow(), c, -top, -left, -bottom, -right}; }
  void check(const char* op = "pad2d") const;
};

constexpr int kMaxDims = 6;

// Two operands broadcast to one result, dense: a dimension along which an operand does not vary has stride 0.
struct BroadcastShape {
  int dims = 0;
  std::array<int64_t, kMaxDims> size{}, a_stride{}, b_stride{};
  int64_t count() const;
  // From two shapes by NumPy's rule, neighbouring dimensions merged where both operands allow it. Throws Error.
  static BroadcastShape of(const int* a, int a_dims, const int* b, int b_dims);
};

// The same for three operands, the first of which is a condition.
struct TernaryShape {
  int dims = 0;
  std::array<int64_t, kMaxDims> size{}, condition_stride{}, a_stride{}, b_stride{};
  int64_t count() const;
  static TernaryShape of(const int* condition, int condition_dims, const int* a, int a_dims, const int* b, int b_dims);
};

// One dimension of a dense tensor: `outer` times `size` times `inner` values, for what works along it.
struct AxisShape {
  int64_t outer = 1;
  int size = 0;
  int64_t inner = 1;
  int64_t count() const { return outer * size * inner; }
  int64_t lines() const { return outer * inner; }
};

// A dense tensor reduced over the dimensions marked; the result is dense in the dimensions left.
struct ReduceShape {
  int dims = 0;
  std::array<int64_t, kMaxDims> size{};
  std::array<bool, kMaxDims> reduced{};
  int64_t in_count() const;
  int64_t out_count() const;
};

// y's dimension i is x's dimension axes[i]; both dense.
struct TransposeShape {
  int dims = 0;
  std::array<int, kMaxDims> size{}, axes{};
  int64_t count() const;
  void check(const char* op = "transpose") const;
};

}  // namespace dnn
