// The loops of a reduction over its values (kernels/cpu/reduction.h). Highway includes it once a target.
#if defined(DNN_REDUCTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DNN_REDUCTION_INL_H
#undef DNN_REDUCTION_INL_H
#else
#define DNN_REDUCTION_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include <kernels/cpu/reduce_plan.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {

// f(i, first, count, values) for the i-th result of `kept`, whose first value is *first, and `count` of its values in a
// run; of each result the values `range`.
template <class F>
HWY_INLINE void for_each_run_of_values(const ReducePlan& plan, Range kept, Range range, const float* x, F&& f) {
  Walk result(plan.kept, kept.begin);
  for (int64_t i = 0; i < kept.end - kept.begin; ++i, result.next()) {
    Walk run(plan.reduced, range.begin / plan.length);
    int64_t begin = range.begin % plan.length;
    for (int64_t done = range.begin; done < range.end; run.next(), begin = 0) {
      const int64_t count = std::min(plan.length - begin, range.end - done);
      f(i, x + result.offset(), count, x + result.offset() + run.offset() + begin);
      done += count;
    }
  }
}

// f(rows, width, pitch, values) for the rows `range` of `width` columns, the first of which is column `first` of place
// `kept`; `group` rows as one, and those left over as one.
template <class F>
HWY_INLINE void for_each_block_of_rows(const ReducePlan& plan, int64_t kept, int64_t first, int64_t width, int group,
                                       Range range, const float* x, F&& f) {
  const int64_t pitch = plan.length;
  x += Walk(plan.kept, kept).offset() + first;
  Walk block(plan.reduced, range.begin / plan.rows);
  int64_t row = range.begin % plan.rows;
  for (int64_t done = range.begin; done < range.end; block.next(), row = 0) {
    const int64_t count = std::min(plan.rows - row, range.end - done), groups = count / group, rest = count % group;
    const float* at = x + block.offset() + row * pitch;
    f(groups, group * width, group * pitch, at);
    if (rest > 0) f(int64_t{1}, rest * width, pitch, at + groups * group * pitch);
    done += count;
  }
}

// Joins the totals of the rows of a group; a plane of totals then has `width` of them.
template <int kTotals, class Join>
HWY_INLINE void join_group(int64_t width, int group, double* totals, Join&& join) {
  if (group == 1) return;
  for (int t = 0; t < kTotals; ++t) {
    double* plane = totals + t * group * width;
    for (int64_t c = 0; c < width; ++c) {
      double total = plane[c];
      for (int i = 1; i < group; ++i) join(total, plane[i * width + c]);
      totals[t * width + c] = total;
    }
  }
}

// f(d, i) for every i of [0, count) in steps of Lanes(d), in double: whole vectors, then one lane.
template <class F>
HWY_INLINE void for_double_vectors(int64_t count, F&& f) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = hn::Lanes(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) f(d, i);
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<double, 1> d1;
  for (; i < count; ++i) f(d1, i);
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> load_as_double(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}

}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
