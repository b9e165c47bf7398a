#pragma once
#include <kernels/cpu/axes.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// A sum with its neighbouring dimensions of one kind merged, so that kept and reduced ones alternate. The last one is
// taken apart:
//   reduced ("runs"):   result k is the sum over reduced.count runs of `length` values
//   kept ("columns"):   results k * length ... are the sums over reduced.count blocks of rows x length values
struct SumPlan {
  bool runs = false;
  int64_t length = 1, rows = 1;
  Axes kept, reduced;

  explicit SumPlan(const ReduceShape& shape) {
    Axes merged;
    std::array<bool, kMaxDims> merged_reduced{};
    for (int dim = 0; dim < shape.dims; ++dim) {
      if (shape.size[dim] == 1) continue;
      if (merged.dims > 0 && merged_reduced[merged.dims - 1] == shape.reduced[dim]) {
        merged.size[merged.dims - 1] *= shape.size[dim];
      } else {
        merged_reduced[merged.dims] = shape.reduced[dim];
        merged.add(shape.size[dim], 0);
      }
    }
    int last = merged.dims - 1;
    int64_t stride = 1;
    for (int dim = last; dim >= 0; --dim) {
      merged.stride[dim] = stride;
      stride *= merged.size[dim];
    }
    if (last >= 0) {
      runs = merged_reduced[last];
      length = merged.size[last--];
    }
    if (!runs && last >= 0) rows = merged.size[last--];
    for (int dim = 0; dim <= last; ++dim) {
      (merged_reduced[dim] ? reduced : kept).add(merged.size[dim], merged.stride[dim]);
    }
  }
};

}  // namespace dnn::cpu
