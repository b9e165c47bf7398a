#pragma once
#include <cstdint>

#include <kernels/cpu/per_isa.h>
#include <kernels/epilogue.h>

// The three transforms of F(4x4, 3x3) on vectors of channels. Position p = 6 * row + column of a transformed 6x6 tile
// lies p * step behind the first.
namespace dnn::cpu {

constexpr int kWinogradIn = 6, kWinogradOut = 4, kWinogradPositions = 36;

struct WinogradOutput {
  Epilogue<float> epilogue;
  float* y;  // the tile's first pixel
  int64_t row_step, col_step;
  int rows, cols, channels;  // of the tile that lie in the picture
};

struct WinogradKernels {
  // `count` values (of any channels) for each of 9 taps, tap_step apart.
  void (*filters)(const float* w, int64_t tap_step, int64_t count, float* u, int64_t step);
  // A pointer for each of the 36 pixels of a tile.
  void (*input)(const float* const* x, int channels, float* v, int64_t step);
  void (*output)(const float* m, int64_t step, const WinogradOutput& out);
};

const WinogradKernels& winograd_kernels(const Context& context);

}  // namespace dnn::cpu
