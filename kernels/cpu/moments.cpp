// Mean and variance over some dimensions in one pass: the sums of d and d^2 in double, where d = x - the first value of
// the result. That value is one of x, so that the square of its distance from the mean is at most `cells` variances,
// and the difference of the sums loses little; no d^2 of two floats overflows a double.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/moments.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/reduction.h>
#include <kernels/cpu/simd/reduction-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

constexpr int kTogether = 4;  // vectors, or rows, whose latencies overlap

void add_run(int64_t count, float shift, const float* x, double& sum, double& squares) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = hn::Lanes(d);
  const auto first = hn::Set(d, static_cast<double>(shift));
  hn::Vec<decltype(d)> sums[kTogether], of_squares[kTogether];
  for (int j = 0; j < kTogether; ++j) sums[j] = of_squares[j] = hn::Zero(d);
  int64_t i = 0;
  for (; i + kTogether * lanes <= count; i += kTogether * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < kTogether; ++j) {
      const auto v = hn::Sub(load_as_double(d, x + i + j * lanes), first);
      sums[j] = hn::Add(sums[j], v);
      of_squares[j] = hn::MulAdd(v, v, of_squares[j]);
    }
  }
  for (int j = 1; j < kTogether; ++j) {
    sums[0] = hn::Add(sums[0], sums[j]);
    of_squares[0] = hn::Add(of_squares[0], of_squares[j]);
  }
  sum += hn::GetLane(hn::SumOfLanes(d, sums[0]));
  squares += hn::GetLane(hn::SumOfLanes(d, of_squares[0]));
  for (; i < count; ++i) {
    const double v = static_cast<double>(x[i]) - shift;
    sum += v;
    squares += v * v;
  }
}

void runs_chunk(const ReducePlan& plan, Range kept, Range values, const float* x, double* totals) {
  const int64_t results = kept.end - kept.begin;
  std::fill_n(totals, 2 * results, 0.0);
  for_each_run_of_values(plan, kept, values, x,
                         [=](int64_t i, const float* first, int64_t count, const float* run)
                             HWY_ATTR { add_run(count, *first, run, totals[i], totals[results + i]); });
}

void add_rows(int64_t rows, int64_t width, int64_t pitch, const float* x, const float* shift, double* sums,
              double* squares) {
  const auto add = [=](int64_t count, const float* values) HWY_ATTR {
    for_double_vectors(width, [=](auto d, int64_t c) HWY_ATTR {
      const auto first = load_as_double(d, shift + c);
      auto sum = hn::LoadU(d, sums + c), square = hn::LoadU(d, squares + c);
      for (int64_t i = 0; i < count; ++i) {
        const auto v = hn::Sub(load_as_double(d, values + i * pitch + c), first);
        sum = hn::Add(sum, v);
        square = hn::MulAdd(v, v, square);
      }
      hn::StoreU(sum, d, sums + c);
      hn::StoreU(square, d, squares + c);
    });
  };
  for (int64_t row = 0; row < rows; row += kTogether) add(std::min<int64_t>(kTogether, rows - row), x + row * pitch);
}

void columns_chunk(const ReducePlan& plan, int64_t kept, int64_t first, int64_t width, int group, Range rows,
                   const float* x, float* shift, double* totals) {
  double* squares = totals + group * width;
  std::fill_n(totals, 2 * group * width, 0.0);
  for (int i = 0; i < group; ++i) std::copy_n(x + Walk(plan.kept, kept).offset() + first, width, shift + i * width);
  for_each_block_of_rows(plan, kept, first, width, group, rows, x,
                         [=](int64_t count, int64_t columns, int64_t pitch, const float* values)
                             HWY_ATTR { add_rows(count, columns, pitch, values, shift, totals, squares); });
  join_group<2>(width, group, totals, [](double& total, double more) { total += more; });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

struct Moments : ReductionLoops {
  static constexpr int kTotals = 2;
  double correction;
  float *mean, *var;

  static void join(double& total, double more) { total += more; }
  void finish(int64_t first, int64_t count, const double* totals) const {
    const auto cells = static_cast<double>(plan.cells());
    for (int64_t i = 0; i < count; ++i) {
      const double sum = totals[i], squares = totals[count + i];
      const double from_shift = sum / cells;
      mean[first + i] = static_cast<float>(std::isfinite(sum) ? x[plan.first_of(first + i)] + from_shift
                                                              : mean_of_non_finite(first + i));
      const double of_mean = squares - sum * from_shift;
      var[first + i] = static_cast<float>((of_mean < 0 ? 0 : of_mean) / std::max(cells - correction, 0.0));
    }
  }

  // Infinite where all infinities have one sign.
  double mean_of_non_finite(int64_t result) const {
    double sum = 0;
    plan.for_each_value(result, [&](int64_t at) { sum += x[at]; });
    return sum;
  }
};

}  // namespace

void moments(Context& context, const ReduceShape& shape, double correction, const float* x, float* mean, float* var) {
  if (shape.in_count() == 0) {
    std::fill_n(mean, shape.out_count(), std::numeric_limits<float>::quiet_NaN());
    std::fill_n(var, shape.out_count(), static_cast<float>(0 / std::max(-correction, 0.0)));
    return;
  }
  const ReducePlan plan(shape);
  run_reduction(
      context,
      Moments{{DNN_PER_ISA(runs_chunk)[context], DNN_PER_ISA(columns_chunk)[context], plan, x}, correction, mean, var});
}

}  // namespace dnn::cpu
#endif
