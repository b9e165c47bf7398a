#pragma once
#include <algorithm>
#include <cstdint>

// Which cells of a picture make up a cell of the result, in one direction: definitions that every row shares.
namespace dnn {

// The cells [begin, end) of a window.
struct AdaptiveWindow {
  int begin, end;
  int size() const { return end - begin; }
};

// torch.nn.AdaptiveAvgPool2d: the i-th of `out` windows on `in` cells goes from floor(i * in / out) up to, but without,
// ceil((i + 1) * in / out). The windows that cover cell i are adaptive_window(i, out, in).
inline AdaptiveWindow adaptive_window(int64_t i, int64_t in, int64_t out) {
  return {static_cast<int>(i * in / out), static_cast<int>(((i + 1) * in + out - 1) / out)};
}

// torch.nn.Upsample. A `scale` other than 0 stands for out / in but with align_corners: out is then in * scale, rounded
// down. Nearest: cell i of `out` takes cell floor(i * in / out) of `in`; exact: that
// under its own center, floor((i + 0.5) * in / out).
inline int nearest_source(int64_t i, int64_t in, int64_t out, double scale, bool exact) {
  if (scale == 0) return static_cast<int>(exact ? (2 * i + 1) * in / (2 * out) : i * in / out);
  const double at = (static_cast<double>(i) + (exact ? 0.5 : 0)) / scale;
  return static_cast<int>(std::min(at, static_cast<double>(in - 1)));
}

struct BilinearSource {
  int first, second;  // the same cell at the edge
  double weight;      // of the second; the first has the rest
};

// Bilinear: cell i lies at (i + 0.5) * in / out - 0.5, where pixels are squares and the outer edges stay, or at i *
// (in - 1) / (out - 1) with align_corners, where the outer pixels' centers stay; never outside the picture. Its value
// is that of the two cells next to it, weighed by nearness.
inline BilinearSource bilinear_source(int i, int in, int out, double scale, bool align_corners) {
  double at = 0;
  if (align_corners) {
    if (out > 1) at = static_cast<double>(i) * (in - 1) / (out - 1);
  } else {
    const double center = scale == 0 ? (i + 0.5) * in / out : (i + 0.5) / scale;
    at = std::min(std::max(center - 0.5, 0.0), static_cast<double>(in));
  }
  const int first = std::min(static_cast<int>(at), in - 1);
  return {first, std::min(first + 1, in - 1), std::min(at - first, 1.0)};
}

}  // namespace dnn
