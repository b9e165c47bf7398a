#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <kernels/cpu/lines.h>
#include <kernels/cpu/power_plan.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// How a local response normalisation is computed: blocks of rows in scratch arrays of `pitch` values a row, with zeros
// for the channels that the windows of the first and the last ones reach beyond.
struct LrnBlock {
  int cols, before, after;  // a window is the channels c - before ... c + after
  int window, arrays;
  int64_t pitch, rows;
  float alpha, k, slope;  // s = k + alpha * sum; slope: of the second part of dx
  float largest_square;   // for which s is surely within a float
  bool three_quarters;    // beta is 0.75, as everyone has it
  PowerPlan minus_beta;
  bool stream;

  LrnBlock(const LrnShape& shape, int scratch_arrays, bool stream_result)
      : cols(shape.cols),
        before(std::min(shape.size / 2, cols - 1)),
        after(std::min((shape.size - 1) / 2, cols - 1)),
        window(before + after + 1),
        arrays(scratch_arrays),
        pitch(int64_t{cols} + before + after),
        rows(std::max<int64_t>(1, kScratchFloats / (arrays * pitch))),
        alpha(static_cast<float>(shape.alpha / shape.size)),
        k(static_cast<float>(shape.k)),
        slope(static_cast<float>(2 * shape.alpha * shape.beta / shape.size)),
        largest_square(std::numeric_limits<float>::max() / 8 / std::max(1.0f, std::abs(alpha)) /
                       static_cast<float>(window)),
        three_quarters(shape.beta == 0.75),
        minus_beta(-shape.beta),
        stream(stream_result && cols % kLineFloats == 0) {}

  int64_t scratch() const { return arrays * rows * pitch; }

 private:
  static constexpr int64_t kScratchFloats = 4096;
};

}  // namespace dnn::cpu
