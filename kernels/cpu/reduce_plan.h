#pragma once
#include <kernels/cpu/axes.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// A reduction with its neighbouring dimensions of one kind merged, so that kept and reduced ones alternate. The last
// one is taken apart:
//   reduced ("runs"):   result k is that of reduced.count runs of `length` values
//   kept ("columns"):   results k * length ... are those of reduced.count blocks of rows x length values
struct ReducePlan {
  bool runs = false;
  int64_t length = 1, rows = 1;
  Axes kept, reduced;

  explicit ReducePlan(const ReduceShape& shape) {
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

  int64_t results() const { return kept.count * (runs ? 1 : length); }
  int64_t cells() const { return reduced.count * (runs ? length : rows); }  // values a result

  // Where the first value of a result is.
  int64_t first_of(int64_t result) const {
    const int64_t together = runs ? 1 : length;
    return Walk(kept, result / together).offset() + result % together;
  }

  // f(offset) of every value of a result.
  template <class F>
  void for_each_value(int64_t result, F&& f) const {
    const int64_t step = runs ? 1 : length, count = runs ? length : rows, first = first_of(result);
    Walk block(reduced, 0);
    for (int64_t i = 0; i < reduced.count; ++i, block.next()) {
      for (int64_t j = 0; j < count; ++j) f(first + block.offset() + j * step);
    }
  }
};

}  // namespace dnn::cpu
