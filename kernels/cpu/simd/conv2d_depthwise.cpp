#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/conv2d_depthwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/conv2d_depthwise.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

constexpr int kColumns = 4;  // of a tile

// The taps [begin, end) of a window at `start` that lie in [0, size).
struct Taps {
  int begin, end;
};

HWY_INLINE Taps taps_inside(int start, int dilation, int taps, int size) {
  const int begin = start < 0 ? (dilation - 1 - start) / dilation : 0;
  const int end = start < size ? std::min(taps, (size - 1 - start) / dilation + 1) : 0;
  return {std::min(begin, taps), std::max(std::min(begin, taps), end)};
}

// Channels that stay in the L1 cache with their w or sums.
HWY_INLINE int channel_block(const DepthwisePass& p) { return std::max(64, 3072 / std::max(1, p.r * p.s) / 16 * 16); }

// f(tag, c) for vectors of channels, narrower ones at the end.
template <class F>
HWY_INLINE void for_each_vector(int begin, int end, const F& f) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 4> d4;
  const hn::CappedTag<float, 1> d1;
  int c = begin;
  for (; c + static_cast<int>(hn::Lanes(d)) <= end; c += static_cast<int>(hn::Lanes(d))) f(d, c);
  for (; c + static_cast<int>(hn::Lanes(d4)) <= end; c += static_cast<int>(hn::Lanes(d4))) f(d4, c);
  for (; c < end; ++c) f(d1, c);
}

// At least one vector of channels, for what may be computed twice: the last repeats channels of the one before.
template <class F>
HWY_INLINE void for_each_vector_again(int begin, int end, const F& f) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int c = begin; c < end; c += lanes) f(d, std::min(c, end - lanes));
}

// Pixels of one tile, the rows and columns of their windows that are in the picture.
struct Pixels {
  const float* x;  // tap (0, 0) of the first pixel
  int64_t y;       // offset of the first pixel
  int count;
  Taps rows;
  Taps columns;  // of the window of all pixels together: x's columns from the first pixel's first tap on
};

// Any window; pixels one by one.
void forward_any(const DepthwisePass& p, const Pixels& t, Range channels, const float* bias, float* y) {
  for (int i = 0; i < t.count; ++i) {
    const int first = i * p.stride_w;
    const Taps taps = taps_inside(first - t.columns.begin, p.dilation_w, p.s, t.columns.end - t.columns.begin);
    const auto each = [&](auto d, int c) HWY_ATTR {
      auto sum = bias ? hn::LoadU(d, bias + c) : hn::Zero(d);
      for (int r = t.rows.begin; r < t.rows.end; ++r) {
        const float* from =
            t.x + int64_t{r} * p.dilation_h * p.x_row + (first + taps.begin * p.dilation_w) * p.x_column + c;
        const float* w = p.w_channels + (int64_t{r} * p.s + taps.begin) * p.channels + c;
        for (int s = taps.begin; s < taps.end; ++s, from += p.dilation_w * p.x_column, w += p.channels) {
          sum = hn::MulAdd(hn::LoadU(d, from), hn::LoadU(d, w), sum);
        }
      }
      hn::StoreU(sum, d, y + t.y + i * p.y_column + c);
    };
    for_each_vector(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
  }
}

// A row of a window of kS columns without dilation, for kColumns pixels: each value of x is loaded once for all of
// them, and the products are summed for each tap (kOfTaps) or for each pixel. At the sides of the picture (kSide) only
// the columns [first, last) are in it.
template <int kS, int kStride, bool kSide, bool kOfTaps, class D, class V = hn::Vec<D>>
HWY_INLINE void add_products(D d, const float* row, int64_t x_column, int first, int last,
                             const V (&factors)[kOfTaps ? kColumns : kS], V (&sums)[kOfTaps ? kS : kColumns]) {
  constexpr int kWidth = (kColumns - 1) * kStride + kS;
#pragma GCC unroll 16
  for (int j = 0; j < kWidth; ++j) {
    if (kSide && (j < first || j >= last)) continue;
    const V value = hn::LoadU(d, row + j * x_column);
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) {
      const int s = j - i * kStride;
      if (s < 0 || s >= kS) continue;
      V& sum = sums[kOfTaps ? s : i];
      sum = hn::MulAdd(value, factors[kOfTaps ? i : s], sum);
    }
  }
}

template <int kS, int kStride, bool kSide>
void forward_tile(const DepthwisePass& p, const Pixels& t, Range channels, const float* bias, float* y) {
  const int64_t x_column = p.x_column, x_step = p.dilation_h * p.x_row, count = p.channels, y_column = p.y_column;
  const float* x = t.x + t.rows.begin * x_step;
  const float* w_first = p.w_channels + int64_t{t.rows.begin} * kS * count;
  const int rows = t.rows.end - t.rows.begin, first = t.columns.begin, last = t.columns.end;
  float* to_first = y + t.y;
  const auto each = [=](auto d, int c) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V sum[kColumns];
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) sum[i] = bias ? hn::LoadU(d, bias + c) : hn::Zero(d);
    const float* row = x + c;
    const float* w = w_first + c;
    for (int r = 0; r < rows; ++r, row += x_step, w += kS * count) {
      V weight[kS];
#pragma GCC unroll 16
      for (int s = 0; s < kS; ++s) weight[s] = hn::LoadU(d, w + s * count);
      add_products<kS, kStride, kSide, false>(d, row, x_column, first, last, weight, sum);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) hn::StoreU(sum[i], d, to_first + i * y_column + c);
  };
  for_each_vector_again(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
}

// Adds the residual and applies the activation to a row's pixels.
template <UnaryOp kActivation>
void finish_row(const DepthwisePass& p, Range channels, const float* residual, int64_t at, float* y) {
  for (int column = 0; column < p.ow; ++column, at += p.y_column) {
    const auto each = [&](auto d, int c) HWY_ATTR {
      auto value = hn::LoadU(d, y + at + c);
      if (residual) value = hn::Add(value, hn::LoadU(d, residual + at + c));
      hn::StoreU(activate<kActivation>(d, value), d, y + at + c);
    };
    for_each_vector(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
  }
}

void finish_row(const DepthwisePass& p, Range channels, const Epilogue<float>& epilogue, int64_t at, float* y) {
  if (epilogue.activation == Activation::none && !epilogue.residual) return;
  with_activation(epilogue.activation, [&]<UnaryOp kActivation>() HWY_ATTR {
    finish_row<kActivation>(p, channels, epilogue.residual, at, y);
  });
}

struct ForwardTiles {
  using Function = void (*)(const DepthwisePass&, const Pixels&, Range, const float* bias, float* y);
  Function inner, side;
};

template <int kS, int kStride>
constexpr ForwardTiles kForwardTiles{forward_tile<kS, kStride, false>, forward_tile<kS, kStride, true>};

// Tiles pay where there are vectors.
ForwardTiles forward_tiles([[maybe_unused]] const DepthwisePass& p, [[maybe_unused]] Range channels) {
#if HWY_TARGET != HWY_SCALAR
  const bool whole = channels.end - channels.begin >= static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  if (whole && p.dilation_w == 1 && p.ow >= kColumns) {
    if (p.stride_w == 1 && p.s == 1) return kForwardTiles<1, 1>;
    if (p.stride_w == 1 && p.s == 2) return kForwardTiles<2, 1>;
    if (p.stride_w == 1 && p.s == 3) return kForwardTiles<3, 1>;
    if (p.stride_w == 2 && p.s == 3) return kForwardTiles<3, 2>;
    if (p.stride_w == 1 && p.s == 5) return kForwardTiles<5, 1>;
    if (p.stride_w == 2 && p.s == 5) return kForwardTiles<5, 2>;
  }
#endif
  return {forward_any, forward_any};
}

// f(pixels, whether all their windows are in the picture in width) for the row of y. Where `repeat`, the last tile is
// a whole one too and computes some pixels again.
template <class F>
HWY_INLINE void for_each_tile(const DepthwisePass& p, int64_t row, const float* x, int64_t y, bool repeat, const F& f) {
  const int ih = static_cast<int>(row) * p.stride_h - p.pad_top, span = p.dilation_w * (p.s - 1) + 1;
  Pixels t{};
  t.rows = taps_inside(ih, p.dilation_h, p.r, p.h);
  for (int tile = 0; tile < p.ow; tile += kColumns) {
    const int column = repeat ? std::min(tile, p.ow - kColumns) : tile;
    const int iw = column * p.stride_w - p.pad_left;
    t.count = std::min(kColumns, p.ow - column);
    t.columns = taps_inside(iw, 1, (t.count - 1) * p.stride_w + span, p.w);
    t.x = x + (ih * p.x_row + iw * p.x_column);
    t.y = y + row * p.y_row + column * p.y_column;
    f(t, t.columns.begin == 0 && t.columns.end == (kColumns - 1) * p.stride_w + span);
  }
}

void forward(const DepthwisePass& p, int64_t picture, Range rows, const float* x, const Epilogue<float>& epilogue,
             float* y) {
  const int64_t block = channel_block(p), y_first = p.y_first + picture * p.y_picture;
  for (int64_t c = 0; c < p.channels; c += block) {
    const Range channels{c, std::min<int64_t>(c + block, p.channels)};
    const ForwardTiles tiles = forward_tiles(p, channels);
    const bool repeat = tiles.inner != tiles.side;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for_each_tile(p, row, x + picture * p.x_picture, y_first, repeat, [&](const Pixels& t, bool inner) {
        (inner ? tiles.inner : tiles.side)(p, t, channels, epilogue.bias, y);
      });
      finish_row(p, channels, epilogue, y_first + row * p.y_row, y);
    }
  }
}

void add_any(const DepthwisePass& p, const Pixels& t, Range channels, const float* dy, float* sums) {
  for (int i = 0; i < t.count; ++i) {
    const int first = i * p.stride_w;
    const Taps taps = taps_inside(first - t.columns.begin, p.dilation_w, p.s, t.columns.end - t.columns.begin);
    const auto each = [&](auto d, int c) HWY_ATTR {
      const auto slope = hn::LoadU(d, dy + t.y + i * p.y_column + c);
      for (int r = t.rows.begin; r < t.rows.end; ++r) {
        const float* from =
            t.x + int64_t{r} * p.dilation_h * p.x_row + (first + taps.begin * p.dilation_w) * p.x_column + c;
        float* to = sums + (int64_t{r} * p.s + taps.begin) * p.channels + c;
        for (int s = taps.begin; s < taps.end; ++s, from += p.dilation_w * p.x_column, to += p.channels) {
          hn::StoreU(hn::MulAdd(hn::LoadU(d, from), slope, hn::LoadU(d, to)), d, to);
        }
      }
    };
    for_each_vector(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
  }
}

// kRows rows of a window of kS columns at once, for whole vectors of channels: as many sums as hide the latency and fit
// in registers. At the sides some columns of x are left out, and pixels beyond the row count as 0.
template <int kS, int kStride, int kRows, bool kSide>
HWY_INLINE void add_rows(const DepthwisePass& p, const Pixels& t, int r, Range channels, const float* dy, float* sums) {
  const int64_t x_column = p.x_column, x_step = p.dilation_h * p.x_row, count = p.channels, dy_column = p.y_column;
  const float* x = t.x + r * x_step;
  const float* dy_first = dy + t.y;
  float* to_first = sums + int64_t{r} * kS * count;
  const int pixels = t.count, first = t.columns.begin, last = t.columns.end;
  const hn::ScalableTag<float> d;
  for (int c = static_cast<int>(channels.begin); c < channels.end; c += static_cast<int>(hn::Lanes(d))) {
    using V = hn::Vec<decltype(d)>;
    V slope[kColumns], sum[kRows][kS];
    float* to = to_first + c;
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) {
      slope[i] = !kSide || i < pixels ? hn::LoadU(d, dy_first + i * dy_column + c) : hn::Zero(d);
    }
    const float* row = x + c;
#pragma GCC unroll 16
    for (int k = 0; k < kRows; ++k, row += x_step) {
#pragma GCC unroll 16
      for (int s = 0; s < kS; ++s) sum[k][s] = hn::LoadU(d, to + (k * kS + s) * count);
      add_products<kS, kStride, kSide, true>(d, row, x_column, first, last, slope, sum[k]);
#pragma GCC unroll 16
      for (int s = 0; s < kS; ++s) hn::StoreU(sum[k][s], d, to + (k * kS + s) * count);
    }
  }
}

template <int kS, int kStride, bool kSide>
void add_tile(const DepthwisePass& p, const Pixels& t, Range channels, const float* dy, float* sums) {
  constexpr int kRows = kS == 3 ? 3 : 2;
  const int64_t lanes = hn::Lanes(hn::ScalableTag<float>());
  const Range whole{channels.begin, channels.end - (channels.end - channels.begin) % lanes};
  int r = t.rows.begin;
  for (; r + kRows <= t.rows.end; r += kRows) add_rows<kS, kStride, kRows, kSide>(p, t, r, whole, dy, sums);
  for (; r < t.rows.end; ++r) add_rows<kS, kStride, 1, kSide>(p, t, r, whole, dy, sums);
  if (whole.end < channels.end) add_any(p, t, {whole.end, channels.end}, dy, sums);
}

struct AddTiles {
  using Function = void (*)(const DepthwisePass&, const Pixels&, Range, const float* dy, float* sums);
  Function inner, side;
};

template <int kS, int kStride>
constexpr AddTiles kAddTiles{add_tile<kS, kStride, false>, add_tile<kS, kStride, true>};

AddTiles add_tiles([[maybe_unused]] const DepthwisePass& p) {
#if HWY_TARGET != HWY_SCALAR
  if (p.dilation_w == 1) {
    if (p.stride_w == 1 && p.s == 3) return kAddTiles<3, 1>;
    if (p.stride_w == 2 && p.s == 3) return kAddTiles<3, 2>;
    if (p.stride_w == 1 && p.s == 5) return kAddTiles<5, 1>;
    if (p.stride_w == 2 && p.s == 5) return kAddTiles<5, 2>;
  }
#endif
  return {add_any, add_any};
}

void backward_weight(const DepthwisePass& p, Range rows, const float* x, const float* dy, float* sums) {
  const AddTiles tiles = add_tiles(p);
  const int64_t block = channel_block(p);
  for (int64_t c = 0; c < p.channels; c += block) {
    const Range channels{c, std::min<int64_t>(c + block, p.channels)};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t picture = row / p.oh;
      for_each_tile(p, row % p.oh, x + picture * p.x_picture, p.y_first + picture * p.y_picture, false,
                    [&](const Pixels& t, bool inner) { (inner ? tiles.inner : tiles.side)(p, t, channels, dy, sums); });
    }
  }
}

constexpr DepthwiseLoops loops{forward, backward_weight};

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

const PerIsa<DepthwiseLoops> depthwise_loops{N_SCALAR::loops, N_AVX2::loops, N_AVX3::loops};

}  // namespace dnn::cpu
#endif
