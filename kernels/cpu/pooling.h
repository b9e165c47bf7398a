#pragma once
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
