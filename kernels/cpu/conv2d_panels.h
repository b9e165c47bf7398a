#pragma once
#include <algorithm>
#include <cstdint>

#include <kernels/cpu/conv2d_direct.h>
#include <kernels/cpu/simd/conv2d_direct.h>

// Filters packed for the inner loops: [panel][R][S][C][lanes of the panel].
namespace dnn::cpu {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Panel {
  int group, first, channels, vectors;  // first: channel within the group
  const float* weights;
  const float *start, *scale, *shift;  // see TileOutput
};

// The filters of every group, cut into panels.
class Panels {
 public:
  Panels(const DirectKernels& loops, const DirectConv& conv) : kernels(loops), groups_(conv.groups), k_(conv.k) {
    vectors_ = static_cast<int>(ceil_div(conv.k, kernels.lanes));
    // Two vectors a panel and one of three where the number is odd; four where the registers allow it.
    const int most = kernels.max_vectors;
    per_group_ = most == 4 ? static_cast<int>(ceil_div(vectors_, most)) : std::max(1, vectors_ / 2);
    length_ = int64_t{conv.r} * conv.s * conv.c;
  }

  Panel operator[](int64_t index) const {
    const int group = static_cast<int>(index / per_group_), i = static_cast<int>(index % per_group_);
    const int begin = vectors_ * i / per_group_, end = vectors_ * (i + 1) / per_group_;
    const int64_t at = (int64_t{group} * vectors_ + begin) * kernels.lanes;
    const int first = begin * kernels.lanes;
    return {group,
            first,
            std::min(k_, end * kernels.lanes) - first,
            end - begin,
            weights + at * length_,
            start + at,
            scale ? scale + at : nullptr,
            shift ? shift + at : nullptr};
  }

  int64_t count() const { return int64_t{per_group_} * groups_; }
  int64_t length() const { return length_; }  // values of one filter
  int64_t lanes() const { return int64_t{groups_} * vectors_ * kernels.lanes; }
  int64_t size() const { return lanes() * length_; }  // values of all filters, packed
  int64_t group_bytes() const { return lanes() / groups_ * length_ * static_cast<int64_t>(sizeof(float)); }

  const DirectKernels& kernels;
  const float* weights = nullptr;  // size() values
  // lanes() values each; scale and shift or neither.
  const float *start = nullptr, *scale = nullptr, *shift = nullptr;

 private:
  int groups_, k_, vectors_, per_group_;
  int64_t length_;
};

void pack_filters(Context& context, const DirectConv& conv, const FilterView& filters, float* to);

// Where the sums of all panels start, and what scales and shifts them. A null epilogue: from zeros, without these.
void pack_epilogue(Workspace& workspace, const DirectConv& conv, const Epilogue<float>* epilogue, Panels& panels);

}  // namespace dnn::cpu
