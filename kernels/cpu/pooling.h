#pragma once
#include <algorithm>

#include <kernels/context.h>

namespace dnn::cpu {

// The windows of one dimension that cover a place of it.
struct Covering {
  int begin, end;
};

// The same, and how many places of the dimension count in each of those windows of an average; 0 where this is not the
// same for all.
struct AveragedCovering {
  Covering windows;
  int cells;
};

// The cells [begin, end) of a window of `count`, `dilation` apart, that lie in [0, size); its cell 0 lies at `first`.
struct Cells {
  int begin, end;
};

inline Cells cells_inside(int first, int size, int count, int dilation) {
  if (dilation == 1) return {std::max(0, -first), std::min(count, size - first)};
  const auto places_until = [&](int64_t limit) {
    return static_cast<int>(limit > 0 ? std::min<int64_t>(count, (limit + dilation - 1) / dilation) : 0);
  };
  return {places_until(-int64_t{first}), places_until(int64_t{size} - first)};
}

// For each place of [0, size).
inline const Covering* find_coverings(int size, int window, int stride, int pad, int windows, Workspace& workspace) {
  Covering* coverings = workspace.take<Covering>(size);
  Covering now{0, 0};
  for (int at = 0; at < size; ++at) {
    while (now.end < windows && now.end * stride - pad <= at) ++now.end;
    while (now.begin < now.end && now.begin * stride - pad + window <= at) ++now.begin;
    coverings[at] = now;
  }
  return coverings;
}

}  // namespace dnn::cpu
