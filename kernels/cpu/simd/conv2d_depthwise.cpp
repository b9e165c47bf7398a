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

// The columns of y whose whole windows are in the picture.
HWY_INLINE Range inner_columns(const DepthwisePass& p) {
  const int span = p.dilation_w * (p.s - 1), last = p.w - 1 - span + p.pad_left;
  const int begin = p.pad_left > 0 ? (p.pad_left + p.stride_w - 1) / p.stride_w : 0;
  const int end = last < 0 ? 0 : last / p.stride_w + 1;
  return {std::min(begin, p.ow), std::clamp(end, std::min(begin, p.ow), p.ow)};
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

// Pixels of one tile: their first taps' rows and the places of their results.
struct Pixels {
  const float* x;  // tap (0, 0) of the first pixel
  int64_t y;       // offset of the first pixel
  Taps rows, columns;
};

template <class D>
HWY_INLINE void store(D d, const Epilogue<float>& epilogue, hn::Vec<D> sum, int64_t at, float* y) {
  if (epilogue.residual) sum = hn::Add(sum, hn::LoadU(d, epilogue.residual + at));
  if (epilogue.activation == Activation::relu) sum = activate<Activation::relu>(d, sum);
  hn::StoreU(sum, d, y + at);
}

// Any window: kCount pixels, each loads what it needs.
template <int kCount>
void forward_any(const DepthwisePass& p, const Pixels& t, Range channels, const Epilogue<float>& epilogue, float* y) {
  const auto each = [&](auto d, int c) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V sum[kCount];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) sum[i] = epilogue.bias ? hn::LoadU(d, epilogue.bias + c) : hn::Zero(d);
    for (int r = t.rows.begin; r < t.rows.end; ++r) {
      const float* row = t.x + r * p.dilation_h * p.x_row + c;
      const float* w = p.w_channels + int64_t{r} * p.s * p.channels + c;
      for (int s = t.columns.begin; s < t.columns.end; ++s) {
        const V weight = hn::LoadU(d, w + int64_t{s} * p.channels);
#pragma GCC unroll 16
        for (int i = 0; i < kCount; ++i) {
          const V value = hn::LoadU(d, row + (s * p.dilation_w + i * p.stride_w) * p.x_column);
          sum[i] = hn::MulAdd(value, weight, sum[i]);
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) store(d, epilogue, sum[i], t.y + i * p.y_column + c, y);
  };
  for_each_vector(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
}

// A window of kS columns without dilation: each value of x is loaded once for all pixels of the tile.
template <int kS, int kStride>
void forward_tile(const DepthwisePass& p, const Pixels& t, Range channels, const Epilogue<float>& epilogue, float* y) {
  const auto each = [&](auto d, int c) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V sum[kColumns];
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) sum[i] = epilogue.bias ? hn::LoadU(d, epilogue.bias + c) : hn::Zero(d);
    for (int r = t.rows.begin; r < t.rows.end; ++r) {
      const float* row = t.x + r * p.dilation_h * p.x_row + c;
      const float* w = p.w_channels + int64_t{r} * kS * p.channels + c;
      V weight[kS];
#pragma GCC unroll 16
      for (int s = 0; s < kS; ++s) weight[s] = hn::LoadU(d, w + int64_t{s} * p.channels);
#pragma GCC unroll 16
      for (int j = 0; j < (kColumns - 1) * kStride + kS; ++j) {
        const V value = hn::LoadU(d, row + j * p.x_column);
#pragma GCC unroll 16
        for (int i = 0; i < kColumns; ++i) {
          const int s = j - i * kStride;
          if (s >= 0 && s < kS) sum[i] = hn::MulAdd(value, weight[s], sum[i]);
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) store(d, epilogue, sum[i], t.y + i * p.y_column + c, y);
  };
  for_each_vector(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
}

using ForwardTile = void (*)(const DepthwisePass&, const Pixels&, Range, const Epilogue<float>&, float*);

ForwardTile forward_tile_of(const DepthwisePass& p) {
  if (p.dilation_w == 1 && p.stride_w == 1 && p.s == 3) return forward_tile<3, 1>;
  if (p.dilation_w == 1 && p.stride_w == 2 && p.s == 3) return forward_tile<3, 2>;
  if (p.dilation_w == 1 && p.stride_w == 1 && p.s == 5) return forward_tile<5, 1>;
  if (p.dilation_w == 1 && p.stride_w == 2 && p.s == 5) return forward_tile<5, 2>;
  if (p.dilation_w == 1 && p.stride_w == 1 && p.s == 2) return forward_tile<2, 1>;
  return forward_any<kColumns>;
}

// f(pixels, count): tiles of kColumns inner pixels, else pixels one by one.
template <class F>
void for_each_tile(const DepthwisePass& p, int64_t row, const float* x, int64_t y, const F& f) {
  const int ih = static_cast<int>(row) * p.stride_h - p.pad_top;
  const Range inner = inner_columns(p);
  Pixels t{};
  t.rows = taps_inside(ih, p.dilation_h, p.r, p.h);
  for (int column = 0; column < p.ow;) {
    const int iw = column * p.stride_w - p.pad_left;
    const bool whole = column >= inner.begin && column + kColumns <= inner.end;
    t.x = x + (ih * p.x_row + iw * p.x_column);
    t.y = y + row * p.y_row + column * p.y_column;
    t.columns = taps_inside(iw, p.dilation_w, p.s, p.w);
    f(t, whole ? kColumns : 1);
    column += whole ? kColumns : 1;
  }
}

template <Activation kActivation>
void activate_pixels(const DepthwisePass& p, int64_t from, float* y) {
  const auto each = [&](auto d, int c) HWY_ATTR {
    float* at = y + from + c;
    hn::StoreU(activate<kActivation>(d, hn::LoadU(d, at)), d, at);
  };
  for (int column = 0; column < p.ow; ++column, from += p.y_column) for_each_vector(0, p.channels, each);
}

void forward(const DepthwisePass& p, int64_t picture, Range rows, const float* x, const Epilogue<float>& epilogue,
             float* y) {
  const ForwardTile tile = forward_tile_of(p);
  const int64_t block = channel_block(p), y_first = p.y_first + picture * p.y_picture;
  const float* from = x + picture * p.x_picture;
  for (int64_t c = 0; c < p.channels; c += block) {
    const Range channels{c, std::min<int64_t>(c + block, p.channels)};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for_each_tile(p, row, from, y_first, [&](const Pixels& t, int count) {
        (count == kColumns ? tile : forward_any<1>)(p, t, channels, epilogue, y);
      });
    }
  }
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (epilogue.activation == Activation::sigmoid) {
      activate_pixels<Activation::sigmoid>(p, y_first + row * p.y_row, y);
    } else if (epilogue.activation == Activation::tanh) {
      activate_pixels<Activation::tanh>(p, y_first + row * p.y_row, y);
    }
  }
}

template <int kCount>
void add_any(const DepthwisePass& p, const Pixels& t, Range channels, const float* dy, float* sums) {
  const auto each = [&](auto d, int c) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V slope[kCount];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) slope[i] = hn::LoadU(d, dy + t.y + i * p.y_column + c);
    for (int r = t.rows.begin; r < t.rows.end; ++r) {
      const float* row = t.x + r * p.dilation_h * p.x_row + c;
      float* to = sums + int64_t{r} * p.s * p.channels + c;
      for (int s = t.columns.begin; s < t.columns.end; ++s) {
        V sum = hn::LoadU(d, to + int64_t{s} * p.channels);
#pragma GCC unroll 16
        for (int i = 0; i < kCount; ++i) {
          const V value = hn::LoadU(d, row + (s * p.dilation_w + i * p.stride_w) * p.x_column);
          sum = hn::MulAdd(value, slope[i], sum);
        }
        hn::StoreU(sum, d, to + int64_t{s} * p.channels);
      }
    }
  };
  for_each_vector(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
}

// kRows rows of a window of kS columns at once: as many sums as hide the latency and fit in registers.
template <int kS, int kStride, int kRows>
HWY_INLINE void add_rows(const DepthwisePass& p, const Pixels& t, int r, Range channels, const float* dy, float* sums) {
  const auto each = [&](auto d, int c) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V slope[kColumns], sum[kRows][kS];
    float* to = sums + int64_t{r} * kS * p.channels + c;
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) slope[i] = hn::LoadU(d, dy + t.y + i * p.y_column + c);
#pragma GCC unroll 16
    for (int k = 0; k < kRows; ++k) {
      const float* row = t.x + (r + k) * p.dilation_h * p.x_row + c;
#pragma GCC unroll 16
      for (int s = 0; s < kS; ++s) sum[k][s] = hn::LoadU(d, to + int64_t{k * kS + s} * p.channels);
#pragma GCC unroll 16
      for (int j = 0; j < (kColumns - 1) * kStride + kS; ++j) {
        const V value = hn::LoadU(d, row + j * p.x_column);
#pragma GCC unroll 16
        for (int i = 0; i < kColumns; ++i) {
          const int s = j - i * kStride;
          if (s >= 0 && s < kS) sum[k][s] = hn::MulAdd(value, slope[i], sum[k][s]);
        }
      }
#pragma GCC unroll 16
      for (int s = 0; s < kS; ++s) hn::StoreU(sum[k][s], d, to + int64_t{k * kS + s} * p.channels);
    }
  };
  for_each_vector(static_cast<int>(channels.begin), static_cast<int>(channels.end), each);
}

template <int kS, int kStride>
void add_tile(const DepthwisePass& p, const Pixels& t, Range channels, const float* dy, float* sums) {
  constexpr int kRows = kS == 3 ? 3 : 2;
  int r = t.rows.begin;
  for (; r + kRows <= t.rows.end; r += kRows) add_rows<kS, kStride, kRows>(p, t, r, channels, dy, sums);
  for (; r < t.rows.end; ++r) add_rows<kS, kStride, 1>(p, t, r, channels, dy, sums);
}

using AddTile = void (*)(const DepthwisePass&, const Pixels&, Range, const float*, float*);

AddTile add_tile_of(const DepthwisePass& p) {
  if (p.dilation_w == 1 && p.stride_w == 1 && p.s == 3) return add_tile<3, 1>;
  if (p.dilation_w == 1 && p.stride_w == 2 && p.s == 3) return add_tile<3, 2>;
  if (p.dilation_w == 1 && p.stride_w == 1 && p.s == 5) return add_tile<5, 1>;
  if (p.dilation_w == 1 && p.stride_w == 2 && p.s == 5) return add_tile<5, 2>;
  return add_any<kColumns>;
}

void backward_weight(const DepthwisePass& p, Range rows, const float* x, const float* dy, float* sums) {
  const AddTile tile = add_tile_of(p);
  const int64_t block = channel_block(p);
  for (int64_t c = 0; c < p.channels; c += block) {
    const Range channels{c, std::min<int64_t>(c + block, p.channels)};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t picture = row / p.oh;
      for_each_tile(
          p, row % p.oh, x + picture * p.x_picture, p.y_first + picture * p.y_picture,
          [&](const Pixels& t, int count) { (count == kColumns ? tile : add_any<1>)(p, t, channels, dy, sums); });
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
