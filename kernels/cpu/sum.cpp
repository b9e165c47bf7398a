// y = scale * sum of x over some dimensions: in float over at most some thousands of values, in double over these.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/reduction.h>
#include <kernels/cpu/simd/column_sums-inl.h>
#include <kernels/cpu/simd/reduction-inl.h>
#include <kernels/cpu/sum.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

double sum_run(int64_t count, const float* x) {
  return sum_blocks<4>(count, [=](auto d, int64_t i) HWY_ATTR { return hn::LoadU(d, x + i); });
}

void runs_chunk(const ReducePlan& plan, Range kept, Range values, const float* x, double* totals) {
  std::fill_n(totals, kept.end - kept.begin, 0.0);
  for_each_run_of_values(plan, kept, values, x, [=](int64_t i, const float*, int64_t count, const float* run) HWY_ATTR {
    totals[i] += sum_run(count, run);
  });
}

// totals[c] += the sum of the rows' column c; `sums` is scratch.
void add_rows(int64_t rows, int64_t width, int64_t pitch, const float* x, float* sums, double* totals) {
  constexpr int64_t kRowsOfFloatSums = 64;
  for (int64_t row = 0; row < rows; row += kRowsOfFloatSums) {
    column_sums(std::min(rows - row, kRowsOfFloatSums), width, pitch, x + row * pitch, sums);
    for (int64_t c = 0; c < width; ++c) totals[c] += sums[c];
  }
}

void columns_chunk(const ReducePlan& plan, int64_t kept, int64_t first, int64_t width, int group, Range rows,
                   const float* x, float* sums, double* totals) {
  std::fill_n(totals, group * width, 0.0);
  for_each_block_of_rows(plan, kept, first, width, group, rows, x,
                         [=](int64_t count, int64_t columns, int64_t pitch, const float* values)
                             HWY_ATTR { add_rows(count, columns, pitch, values, sums, totals); });
  join_group<1>(width, group, totals, [](double& total, double more) { total += more; });
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

struct Sum : ReductionLoops {
  static constexpr int kTotals = 1;
  double scale;
  float* y;

  static void join(double& total, double more) { total += more; }
  void finish(int64_t first, int64_t count, const double* totals) const {
    for (int64_t i = 0; i < count; ++i) y[first + i] = static_cast<float>(scale * exact(first + i, totals[i]));
  }

  // The total, in double where partial sums in float have overflowed and x itself is finite.
  double exact(int64_t result, double total) const {
    if (std::isfinite(total)) return total;
    bool finite = true;
    double sum = 0;
    plan.for_each_value(result, [&](int64_t at) {
      finite = finite && std::isfinite(x[at]);
      sum += x[at];
    });
    return finite ? sum : total;
  }
};

}  // namespace

void sum(Context& context, const ReduceShape& shape, double scale, const float* x, float* y) {
  const ReducePlan plan(shape);
  run_reduction(context,
                Sum{{DNN_PER_ISA(runs_chunk)[context], DNN_PER_ISA(columns_chunk)[context], plan, x}, scale, y});
}

}  // namespace dnn::cpu
#endif
