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

template <class Sizes>
int64_t product(const Sizes& size, int dims) {
  int64_t count = 1;
  for (int i = 0; i < dims; ++i) count *= size[i];
  return count;
}

struct Operand {
  const int* sizes;
  int dims;
  // Its size in dimension `dim` of a result of `of` dimensions; missing ones have size 1.
  int size(int dim, int of) const { return dim < of - dims ? 1 : sizes[dim - (of - dims)]; }
};

template <size_t kOperands>
struct Broadcast {
  int dims = 0;
  std::array<int64_t, kMaxDims> size{};
  std::array<std::array<int64_t, kMaxDims>, kOperands> stride{};
};

// By NumPy's rule; a dimension is merged into the one before it where all operands step through the pair as through
// one.
template <size_t kOperands>
Broadcast<kOperands> broadcast(const std::array<Operand, kOperands>& operands) {
  Broadcast<kOperands> full, merged;
  for (const Operand& operand : operands) {
    require(operand.dims <= kMaxDims, "[broadcast] at most {} dimensions; got {}", kMaxDims, operand.dims);
    full.dims = std::max(full.dims, operand.dims);
  }
  std::array<int64_t, kOperands> step;
  step.fill(1);
  for (int i = full.dims - 1; i >= 0; --i) {
    full.size[i] = 1;
    for (size_t j = 0; j < kOperands; ++j) {
      const int size = operands[j].size(i, full.dims);
      require(size == full.size[i] || size == 1 || full.size[i] == 1,
              "[broadcast] sizes must be equal or 1; got {} and {} in dimension {} of {}", full.size[i], size, i,
              full.dims);
      if (size != 1) full.size[i] = size;
      full.stride[j][i] = size == 1 ? 0 : step[j];
      step[j] *= size;
    }
  }
  for (int i = 0; i < full.dims; ++i) {
    if (full.size[i] == 1) continue;
    const int last = merged.dims - 1;
    bool follows = last >= 0;
    for (size_t j = 0; follows && j < kOperands; ++j) {
      follows = merged.stride[j][last] == full.stride[j][i] * full.size[i];
    }
    const int at = follows ? last : merged.dims++;
    merged.size[at] = follows ? merged.size[at] * full.size[i] : full.size[i];
    for (size_t j = 0; j < kOperands; ++j) merged.stride[j][at] = full.stride[j][i];
  }
  return merged;
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

int64_t BroadcastShape::count() const { return product(size, dims); }
int64_t TernaryShape::count() const { return product(size, dims); }

BroadcastShape BroadcastShape::of(const int* a, int a_dims, const int* b, int b_dims) {
  const auto [dims, size, stride] = broadcast<2>({{{a, a_dims}, {b, b_dims}}});
  return {dims, size, stride[0], stride[1]};
}

TernaryShape TernaryShape::of(const int* condition, int condition_dims, const int* a, int a_dims, const int* b,
                              int b_dims) {
  const auto [dims, size, stride] = broadcast<3>({{{condition, condition_dims}, {a, a_dims}, {b, b_dims}}});
  return {dims, size, stride[0], stride[1], stride[2]};
}

int64_t ReduceShape::in_count() const { return product(size, dims); }

int64_t ReduceShape::out_count() const {
  int64_t product = 1;
  for (int i = 0; i < dims; ++i) product *= reduced[i] ? 1 : size[i];
  return product;
}

int64_t TransposeShape::count() const { return product(size, dims); }

void TransposeShape::check(const char* op) const {
  std::array<bool, kMaxDims> seen{};
  for (int i = 0; i < dims; ++i) {
    require(axes[i] >= 0 && axes[i] < dims && !seen[axes[i]], "[{}] axes must be a permutation of 0..{}; got {} at {}",
            op, dims - 1, axes[i], i);
    seen[axes[i]] = true;
  }
}

}  // namespace dnn
