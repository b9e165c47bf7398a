#pragma once
#include <cstdint>

#include <kernels/cpu/per_isa.h>
#include <kernels/epilogue.h>

// The inner loops of the direct convolution: a tile is a few output pixels times one panel of filters, a panel one to
// four vectors wide. The tile's sums stay in registers from the first tap to the store.
namespace dnn::cpu {

constexpr int kMaxPanelVectors = 4;
constexpr int kMaxTilePixels = 14;

// Where a tile's sums begin and go. All offsets count elements.
struct TileOutput {
  const float* start;     // the panel's, one value for each lane of it: the bias, or zeros where there is a scale
  float* y;               // the tile's first pixel, the panel's first channel
  const float* residual;  // same place in the residual, or null
  int channels;           // of the panel
  Activation activation;
  const float *scale, *shift;  // the panel's, or null; with a scale the shift is the bias
};

// Pixels of one output row: tap (row, column) of pixel i starts at x + i * x_step + row * row_step + column * col_step
// and is `run` contiguous values long; the panel's weights follow one another in the same order.
struct RowsTile {
  TileOutput out;
  const float* x;
  const float* w;
  int64_t x_step, row_step, col_step, run, y_step;
  int rows, cols;
};

// Any pixels: tap t of pixel i starts at pointers[t * tap_step + i] + x_offset; pixel i goes to y + y_offsets[i].
struct PointersTile {
  TileOutput out;
  const float* const* pointers;
  const int64_t* y_offsets;
  const float* w;
  int64_t x_offset, tap_step, run;
  int taps;
};

// A panel's last vector ends with its last channel, and so repeats some channels of the vector before where their
// number is no multiple of the lanes: no partial stores but for panels narrower than one vector.
constexpr int vector_start(int channels, int vectors, int vector, int lanes) {
  if (vector + 1 < vectors) return vector * lanes;
  return channels > lanes ? channels - lanes : 0;
}

// The loops of one instruction set. A tile of `vectors` takes at most pixels[vectors] pixels.
struct DirectKernels {
  using Rows = void (*)(const RowsTile&);
  using Pointers = void (*)(const PointersTile&);

  int lanes;
  int max_vectors;
  int pixels[kMaxPanelVectors + 1];
  Rows rows[kMaxPanelVectors + 1][kMaxTilePixels + 1];  // [vectors][pixels]
  Rows rows_prefetch[kMaxPanelVectors + 1];             // full tiles; fetches x and y of the tiles to come
  Pointers pointers[kMaxPanelVectors + 1];              // full tiles
};

const DirectKernels& direct_kernels(const Context& context);

}  // namespace dnn::cpu
