#include <kernels/shapes.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <kernels/error.h>

namespace dnn {
namespace {

template <class... Args>
void require(bool ok, fmt::format_string<Args...> message, Args&&... args) {
  if (!ok) throw Error(fmt::format(message, std::forward<Args>(args)...));
}

void require_padding(const char* op, int top, int left, int bottom, int right) {
  require(top >= 0 && left >= 0 && bottom >= 0 && right >= 0,
          "[{}] padding must not be negative; got top {}, left {}, bottom {}, right {}", op, top, left, bottom, right);
}

void require_input(const char* op, int n, int h, int w, int c) {
  require(n >= 0 && h > 0 && w > 0 && c > 0, "[{}] needs an input of at least (0, 1, 1, 1); got ({}, {}, {}, {})", op,
          n, h, w, c);
}

void require_pitches(const char* op, int x_stride, int c, int y_stride, int k) {
  require((x_stride == 0 || x_stride >= c) && (y_stride == 0 || y_stride >= k),
          "[{}] a pitch must hold the channels; got x_stride {} for {}, y_stride {} for {}", op, x_stride, c, y_stride,
          k);
}

// Output sizes are ints: a window and its padding must not leave their range. `overhang`: by how much the window may be
// larger.
void require_span(const char* op, int64_t in, int64_t pad_begin, int64_t pad_end, int64_t window, const char* side,
                  int overhang = 0) {
  require(in + pad_begin + pad_end <= std::numeric_limits<int>::max(),
          "[{}] the padded input is too large in {}; got {} + {} + {}", op, side, in, pad_begin, pad_end);
  require(window - overhang <= in + pad_begin + pad_end,
          "[{}] the window is larger than the padded input in {}; got window {} on {} + {} + {}", op, side, window, in,
          pad_begin, pad_end);
}

}  // namespace

void Conv2dShape::check(const char* op) const {
  require_input(op, n, h, w, c);
  require(k > 0 && r > 0 && s > 0, "[{}] needs at least one filter of 1x1; got {} of {}x{}", op, k, r, s);
  require(stride_h > 0 && stride_w > 0, "[{}] stride must be at least 1; got {}x{}", op, stride_h, stride_w);
  require(dilation_h > 0 && dilation_w > 0, "[{}] dilation must be at least 1; got {}x{}", op, dilation_h, dilation_w);
  require_padding(op, pad_top, pad_left, pad_bottom, pad_right);
  require(groups > 0 && c % groups == 0 && k % groups == 0,
          "[{}] groups must divide input and output channels; got {} groups for {} and {}", op, groups, c, k);
  require_pitches(op, x_stride, c, y_stride, k);
  require_span(op, h, pad_top, pad_bottom, int64_t{dilation_h} * (r - 1) + 1, "height");
  require_span(op, w, pad_left, pad_right, int64_t{dilation_w} * (s - 1) + 1, "width");
}

void Pool2dShape::check(const char* op) const {
  require_input(op, n, h, w, c);
  require(r > 0 && s > 0, "[{}] needs a window of at least 1x1; got {}x{}", op, r, s);
  require(stride_h > 0 && stride_w > 0, "[{}] stride must be at least 1; got {}x{}", op, stride_h, stride_w);
  require_padding(op, pad_top, pad_left, pad_bottom, pad_right);
  require(dilation_h > 0 && dilation_w > 0, "[{}] dilation must be at least 1; got {}x{}", op, dilation_h, dilation_w);
  const int64_t rows = int64_t{dilation_h} * (r - 1) + 1, columns = int64_t{dilation_w} * (s - 1) + 1;
  const int64_t most = std::numeric_limits<int>::max();
  require(rows <= most && columns <= most, "[{}] the dilation is too large; got {}x{} for a window of {}x{}", op,
          dilation_h, dilation_w, r, s);
  require(pad_top < rows && pad_bottom < rows && pad_left < columns && pad_right < columns,
          "[{}] padding must be smaller than the window; got top {}, left {}, bottom {}, right {} for {}x{}", op,
          pad_top, pad_left, pad_bottom, pad_right, rows, columns);
  require_pitches(op, x_stride, c, y_stride, c);
  require_span(op, h, pad_top, pad_bottom, rows, "height", overhang(stride_h));
  require_span(op, w, pad_left, pad_right, columns, "width", overhang(stride_w));
}

void LrnShape::check(const char* op) const {
  require(rows >= 0 && cols > 0, "[{}] needs at least one channel; got {} rows of {}", op, rows, cols);
  require(size > 0, "[{}] size must be at least 1; got {}", op, size);
}

void ResizeShape::check(const char* op) const {
  require_input(op, n, h, w, c);
  require(oh > 0 && ow > 0, "[{}] needs an output of at least 1x1; got {}x{}", op, oh, ow);
}

void Pad2dShape::check(const char* op) const {
  require_input(op, n, h, w, c);
  const int64_t most = std::numeric_limits<int>::max();
  const int64_t rows = int64_t{h} + top + bottom, cols = int64_t{w} + left + right;
  require(rows > 0 && cols > 0 && rows <= most && cols <= most &&
              int64_t{h} + std::min(top, 0) + std::min(bottom, 0) > 0 &&
              int64_t{w} + std::min(left, 0) + std::min(right, 0) > 0,
          "[{}] the borders must leave a picture; got top {}, left {}, bottom {}, right {} for {}x{}", op, top, left,
          bottom, right, h, w);
}

void GemmShape::check(const char* op) const {
  require(m >= 0 && n >= 0 && k >= 0, "[{}] sizes must not be negative; got m {}, n {}, k {}", op, m, n, k);
  require(a_pitch() >= (trans_a ? m : k) && b_pitch() >= (trans_b ? k : n) && c_pitch() >= n,
          "[{}] a leading dimension is smaller than its row; got lda {}, ldb {}, ldc {} for m {}, n {}, k {}", op, lda,
          ldb, ldc, m, n, k);
}

int64_t BroadcastShape::count() const {
  int64_t product = 1;
  for (int i = 0; i < dims; ++i) product *= size[i];
  return product;
}

BroadcastShape BroadcastShape::of(const int* a, int a_dims, const int* b, int b_dims) {
  require(a_dims <= kMaxDims && b_dims <= kMaxDims, "[broadcast] at most {} dimensions; got {} and {}", kMaxDims,
          a_dims, b_dims);
  BroadcastShape full;
  full.dims = std::max(a_dims, b_dims);
  int64_t a_step = 1, b_step = 1;
  for (int i = full.dims - 1; i >= 0; --i) {
    const int from_a = i - (full.dims - a_dims), from_b = i - (full.dims - b_dims);
    const int a_size = from_a >= 0 ? a[from_a] : 1, b_size = from_b >= 0 ? b[from_b] : 1;
    require(a_size == b_size || a_size == 1 || b_size == 1,
            "[broadcast] sizes must be equal or 1; got {} and {} in dimension {} of {}", a_size, b_size, i, full.dims);
    full.size[i] = a_size == 1 ? b_size : a_size;
    full.a_stride[i] = a_size == 1 ? 0 : a_step;
    full.b_stride[i] = b_size == 1 ? 0 : b_step;
    a_step *= a_size;
    b_step *= b_size;
  }
  // Merge a dimension into the one before it where both operands step through the pair as through one.
  BroadcastShape merged;
  for (int i = 0; i < full.dims; ++i) {
    if (full.size[i] == 1) continue;
    const int last = merged.dims - 1;
    if (last >= 0 && merged.a_stride[last] == full.a_stride[i] * full.size[i] &&
        merged.b_stride[last] == full.b_stride[i] * full.size[i]) {
      merged.size[last] *= full.size[i];
      merged.a_stride[last] = full.a_stride[i];
      merged.b_stride[last] = full.b_stride[i];
      continue;
    }
    merged.size[merged.dims] = full.size[i];
    merged.a_stride[merged.dims] = full.a_stride[i];
    merged.b_stride[merged.dims] = full.b_stride[i];
    ++merged.dims;
  }
  return merged;
}

int64_t ReduceShape::in_count() const {
  int64_t product = 1;
  for (int i = 0; i < dims; ++i) product *= size[i];
  return product;
}

int64_t ReduceShape::out_count() const {
  int64_t product = 1;
  for (int i = 0; i < dims; ++i) product *= reduced[i] ? 1 : size[i];
  return product;
}

int64_t StridedShape::count() const {
  int64_t product = 1;
  for (int i = 0; i < dims; ++i) product *= size[i];
  return product;
}

}  // namespace dnn
