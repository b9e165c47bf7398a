// y[i][k] = activation(bias[k] + sum over taps and channels of x[i][tap][c] * w[tap][c][k] + residual[i][k]), a tile at
// a time: for each (tap, c) the panel's vectors of w are loaded once and meet each pixel's x, broadcast.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/conv2d_direct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>
#include <utility>

#include <kernels/cpu/simd/activation-inl.h>
#include <kernels/cpu/simd/conv2d_direct.h>
#include <kernels/cpu/simd/masked_load-inl.h>

// Without it the compilers keep the sums in memory.
#define DNN_UNROLL _Pragma("GCC unroll 16")

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// Sums of a tile, pixels x vectors.
template <int kPixels, int kVectors>
using Sums = Vector[kPixels][kVectors];

// The activations too long to stand in every tile.
HWY_NOINLINE void activate_values(const Activation& activation, float* values, int64_t count) {
  const Tag d;
  with_activation(activation, [&]<UnaryOp kActivation>() HWY_ATTR {
    for (int64_t i = 0; i < count; i += hn::Lanes(d)) {
      hn::StoreU(activate<kActivation>(d, hn::LoadU(d, values + i)), d, values + i);
    }
  });
}

template <int kPixels, int kVectors>
HWY_INLINE void activate_sums(const Activation& activation, Sums<kPixels, kVectors>& sums) {
  const Tag d;
  const int64_t lanes = hn::Lanes(d);
  if (activation.op == UnaryOp::none) return;
  if (activation.op == UnaryOp::relu) {
    DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
      DNN_UNROLL for (int j = 0; j < kVectors; ++j) sums[i][j] = activate<UnaryOp::relu>(d, sums[i][j]);
    }
    return;
  }
  HWY_ALIGN float values[size_t{kPixels} * kVectors * hn::MaxLanes(d)];
  DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
    DNN_UNROLL for (int j = 0; j < kVectors; ++j) hn::StoreU(sums[i][j], d, values + (i * kVectors + j) * lanes);
  }
  activate_values(activation, values, int64_t{kPixels} * kVectors * lanes);
  DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
    DNN_UNROLL for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::LoadU(d, values + (i * kVectors + j) * lanes);
  }
}

template <int kPixels, int kVectors>
HWY_INLINE void start_sums(const TileOutput& out, Sums<kPixels, kVectors>& sums) {
  const Tag d;
  DNN_UNROLL for (int j = 0; j < kVectors; ++j) {
    const Vector bias = hn::LoadU(d, out.bias + j * hn::Lanes(d));
    DNN_UNROLL for (int i = 0; i < kPixels; ++i) sums[i][j] = bias;
  }
}

// Where pixel i lies from the tile's first.
struct Steps {
  int64_t step;
  HWY_INLINE int64_t operator[](int i) const { return i * step; }
};

// A panel narrower than a vector. Where the pixels are dense, what a full store writes too much is the next pixel's
// place, stored next: only the last pixels need the slow partial store.
template <int kPixels>
HWY_INLINE void store_narrow(const TileOutput& out, const Steps offsets, Sums<kPixels, 1>& sums) {
  const Tag d;
  const auto mask = hn::FirstN(d, out.channels);
  const bool dense = offsets.step == out.channels;
  DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
    if (dense && (kPixels - i) * out.channels >= static_cast<int>(hn::Lanes(d))) {
      hn::StoreU(sums[i][0], d, out.y + offsets[i]);
    } else {
      hn::BlendedStore(sums[i][0], mask, d, out.y + offsets[i]);
    }
  }
}

template <int kPixels>
HWY_INLINE void store_narrow(const TileOutput& out, const int64_t* offsets, Sums<kPixels, 1>& sums) {
  const Tag d;
  const auto mask = hn::FirstN(d, out.channels);
  DNN_UNROLL for (int i = 0; i < kPixels; ++i) hn::BlendedStore(sums[i][0], mask, d, out.y + offsets[i]);
}

template <int kPixels, int kVectors, class Offsets>
HWY_INLINE void finish_sums(const TileOutput& out, const Offsets offsets, Sums<kPixels, kVectors>& sums) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const bool narrow = out.channels < lanes;
  if (out.residual) {
    DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
      DNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        const float* from = out.residual + offsets[i] + vector_start(out.channels, kVectors, j, lanes);
        const Vector residual = narrow ? masked_load(hn::FirstN(d, out.channels), d, from) : hn::LoadU(d, from);
        sums[i][j] = hn::Add(sums[i][j], residual);
      }
    }
  }
  activate_sums<kPixels, kVectors>(out.activation, sums);
  if constexpr (kVectors == 1) {
    if (narrow) return store_narrow<kPixels>(out, offsets, sums);
  }
  const int64_t last = vector_start(out.channels, kVectors, kVectors - 1, lanes);
  DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
    float* y = out.y + offsets[i];
    DNN_UNROLL for (int j = 0; j + 1 < kVectors; ++j) hn::StoreU(sums[i][j], d, y + int64_t{j} * lanes);
    hn::StoreU(sums[i][kVectors - 1], d, y + last);
  }
}

template <int kPixels, int kVectors, bool kPrefetch>
void rows_tile(const RowsTile& tile) {
  const Tag d;
  const int64_t lanes = hn::Lanes(d);
  Sums<kPixels, kVectors> sums;
  start_sums<kPixels, kVectors>(tile.out, sums);
  const float* HWY_RESTRICT w = tile.w;
  const int64_t x_step = tile.x_step, run = tile.run;
  // One line of what is to come for each channel: x a few tiles ahead, y's own lines before they are stored.
  constexpr int kTilesAhead = kPixels > 7 ? 2 : kPixels > 5 ? 3 : 4;
  const float* next_x = tile.x + x_step * kTilesAhead * kPixels;
  const char* next_y = reinterpret_cast<const char*>(tile.out.y);
  const int64_t y_bytes = kPrefetch ? kPixels * tile.y_step * static_cast<int64_t>(sizeof(float)) / run : 0;
  if constexpr (!kPrefetch) {
    DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
      DNN_UNROLL for (int j = 0; j < kVectors; ++j) __builtin_prefetch(tile.out.y + i * tile.y_step + j * lanes, 1, 3);
    }
  }
  for (int row = 0; row < tile.rows; ++row) {
    for (int col = 0; col < tile.cols; ++col) {
      const float* HWY_RESTRICT x = tile.x + row * tile.row_step + col * tile.col_step;
      for (int64_t c = 0; c < run; ++c) {
        Vector panel[kVectors];
        DNN_UNROLL for (int j = 0; j < kVectors; ++j) panel[j] = hn::LoadU(d, w + j * lanes);
        w += kVectors * lanes;
        if constexpr (kPrefetch) {
          __builtin_prefetch(next_x, 0, 3);
          __builtin_prefetch(next_y, 1, 3);
          next_x += kPixels;
          next_y += y_bytes;
        }
        DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
          const Vector value = hn::Set(d, x[i * x_step + c]);
          DNN_UNROLL for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(value, panel[j], sums[i][j]);
        }
      }
    }
  }
  finish_sums<kPixels, kVectors>(tile.out, Steps{tile.y_step}, sums);
}

template <int kPixels, int kVectors>
void pointers_tile(const PointersTile& tile) {
  const Tag d;
  const int64_t lanes = hn::Lanes(d);
  Sums<kPixels, kVectors> sums;
  start_sums<kPixels, kVectors>(tile.out, sums);
  const float* HWY_RESTRICT w = tile.w;
  const float* const* pointers = tile.pointers;
  const int64_t run = tile.run;
  for (int tap = 0; tap < tile.taps; ++tap, pointers += tile.tap_step) {
    const float* x[kPixels];
    DNN_UNROLL for (int i = 0; i < kPixels; ++i) x[i] = pointers[i] + tile.x_offset;
    for (int64_t c = 0; c < run; ++c) {
      Vector panel[kVectors];
      DNN_UNROLL for (int j = 0; j < kVectors; ++j) panel[j] = hn::LoadU(d, w + j * lanes);
      w += kVectors * lanes;
      DNN_UNROLL for (int i = 0; i < kPixels; ++i) {
        const Vector value = hn::Set(d, x[i][c]);
        DNN_UNROLL for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(value, panel[j], sums[i][j]);
      }
    }
  }
  finish_sums<kPixels, kVectors>(tile.out, tile.y_offsets, sums);
}

// The largest tiles whose sums, panel and broadcast value fit the registers: 32 of AVX-512, 16 elsewhere. One lane is
// slow with any.
#if HWY_TARGET <= HWY_AVX3
constexpr int kPixelsOf[kMaxPanelVectors + 1] = {0, 12, 14, 8, 7};
constexpr int kMaxVectors = 4;
#elif HWY_TARGET == HWY_SCALAR
constexpr int kPixelsOf[kMaxPanelVectors + 1] = {0, 4, 2, 2, 0};
constexpr int kMaxVectors = 3;
#else
constexpr int kPixelsOf[kMaxPanelVectors + 1] = {0, 12, 6, 4, 0};
constexpr int kMaxVectors = 3;
#endif

template <int kVectors, int... kIndex>
constexpr void fill_rows(DirectKernels& kernels, std::integer_sequence<int, kIndex...>) {
  ((kernels.rows[kVectors][kIndex + 1] = rows_tile<kIndex + 1, kVectors, false>), ...);
}

template <int kVectors>
constexpr void fill_vectors(DirectKernels& kernels) {
  if constexpr (kVectors <= kMaxVectors) {
    constexpr int kPixels = kPixelsOf[kVectors];
    kernels.pixels[kVectors] = kPixels;
    fill_rows<kVectors>(kernels, std::make_integer_sequence<int, kPixels>());
    kernels.rows_prefetch[kVectors] = rows_tile<kPixels, kVectors, true>;
    kernels.pointers[kVectors] = pointers_tile<kPixels, kVectors>;
  }
}

const DirectKernels& direct_table() {
  static const DirectKernels kernels = [] {
    DirectKernels table{};
    table.lanes = static_cast<int>(hn::Lanes(Tag()));
    table.max_vectors = kMaxVectors;
    fill_vectors<1>(table);
    fill_vectors<2>(table);
    fill_vectors<3>(table);
    fill_vectors<4>(table);
    return table;
  }();
  return kernels;
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {

const DirectKernels& direct_kernels(const Context& context) { return DNN_PER_ISA(direct_table)[context](); }

}  // namespace dnn::cpu
#endif
