// y = scale * sum of x over some dimensions: in float over at most some thousands of values, in double over these.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/lines.h>
#include <kernels/cpu/per_isa.h>
#include <kernels/cpu/simd/column_sums-inl.h>
#include <kernels/cpu/simd/vectors-inl.h>
#include <kernels/cpu/sum.h>
#include <kernels/cpu/sum_plan.h>
#include <kernels/parallel.h>

HWY_BEFORE_NAMESPACE();
namespace dnn::cpu::HWY_NAMESPACE {
namespace {

double sum_run(int64_t count, const float* x) {
  return sum_blocks<4>(count, [=](auto d, int64_t i) HWY_ATTR { return hn::LoadU(d, x + i); });
}

// For each result of `kept`, the sum over the values `range` of its reduced.count * length, to totals.
void runs_chunk(const SumPlan& plan, Range kept, Range range, const float* x, double* totals) {
  Walk result(plan.kept, kept.begin);
  for (int64_t k = kept.begin; k < kept.end; ++k, result.next()) {
    double total = 0;
    Walk run(plan.reduced, range.begin / plan.length);
    int64_t first = range.begin % plan.length;
    for (int64_t i = range.begin; i < range.end; run.next()) {
      const int64_t count = std::min(plan.length - first, range.end - i);
      total += sum_run(count, x + result.offset() + run.offset() + first);
      i += count;
      first = 0;
    }
    totals[k - kept.begin] = total;
  }
}

// totals[c] += the sum of the rows' column c; `sums` is scratch.
void add_rows(int64_t rows, int64_t width, int64_t pitch, const float* x, float* sums, double* totals) {
  constexpr int64_t kRowsOfFloatSums = 64;
  for (int64_t row = 0; row < rows; row += kRowsOfFloatSums) {
    column_sums(std::min(rows - row, kRowsOfFloatSums), width, pitch, x + row * pitch, sums);
    for (int64_t c = 0; c < width; ++c) totals[c] += sums[c];
  }
}

// totals[c] = the sum over the rows `range` of reduced.count * rows, column first + c < `width`, for the results from
// place `kept` on. `group` rows are taken as one where `width` is all of a short row.
void columns_chunk(const SumPlan& plan, int64_t kept, int64_t first, int64_t width, int group, Range range,
                   const float* x, float* sums, double* totals) {
  const int64_t pitch = plan.length;
  std::fill_n(totals, group * width, 0.0);
  x += Walk(plan.kept, kept).offset() + first;
  Walk block(plan.reduced, range.begin / plan.rows);
  int64_t row = range.begin % plan.rows;
  for (int64_t i = range.begin; i < range.end; block.next()) {
    const int64_t count = std::min(plan.rows - row, range.end - i), groups = count / group, rest = count % group;
    const float* at = x + block.offset() + row * pitch;
    add_rows(groups, group * width, group * pitch, at, sums, totals);
    if (rest > 0) add_rows(1, rest * width, pitch, at + groups * group * pitch, sums, totals);
    i += count;
    row = 0;
  }
  for (int64_t c = 0; c < width; ++c) {
    for (int i = 1; i < group; ++i) totals[c] += totals[i * width + c];
  }
}

}  // namespace
}  // namespace dnn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn::cpu {
namespace {

// Result k = scale * total. Where partial sums in float have overflowed, and x itself is finite, all in double.
float result_of(const SumPlan& plan, const float* x, int64_t k, double scale, double total) {
  if (std::isfinite(total)) return static_cast<float>(scale * total);
  const int64_t length = plan.runs ? 1 : plan.length, count = plan.runs ? plan.length : plan.rows;
  x += Walk(plan.kept, k / length).offset() + k % length;
  double exact = 0;
  Walk block(plan.reduced, 0);
  for (int64_t i = 0; i < plan.reduced.count; ++i, block.next()) {
    for (int64_t j = 0; j < count; ++j) {
      const float value = x[block.offset() + j * length];
      if (!std::isfinite(value)) return static_cast<float>(scale * total);
      exact += value;
    }
  }
  return static_cast<float>(scale * exact);
}

// y[k] = scale * the sum of the chunks' partial results, chunk by chunk.
void add_partials(const SumPlan& plan, int64_t chunks, int64_t results, double scale, const float* x,
                  const double* partial, float* y) {
  for (int64_t k = 0; k < results; ++k) {
    double total = 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) total += partial[chunk * results + k];
    y[k] = result_of(plan, x, k, scale, total);
  }
}

// Few results are split within their sums, many by result.
void sum_runs(Context& context, const SumPlan& plan, int64_t chunks, double scale, const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(runs_chunk)[context];
  const int64_t results = plan.kept.count, values = plan.reduced.count * plan.length;
  Workspace workspace(context);
  if (results >= chunks) {
    double* totals = workspace.take<double>(results);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      const Range range = chunk_range(results, chunks, chunk);
      chunk_loop(plan, range, {0, values}, x, totals + range.begin);
      for (int64_t k = range.begin; k < range.end; ++k) y[k] = result_of(plan, x, k, scale, totals[k]);
    });
  } else {
    double* partial = workspace.take<double>(chunks * results);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      chunk_loop(plan, {0, results}, line_range(values, chunks, chunk), x, partial + chunk * results);
    });
    add_partials(plan, chunks, results, scale, x, partial, y);
  }
}

constexpr int64_t kWidestColumns = 2048;  // whose sums stay in L1

void sum_columns_by_rows(Context& context, const SumPlan& plan, int64_t chunks, int group, double scale, const float* x,
                         float* y) {
  const auto chunk_loop = DNN_PER_ISA(columns_chunk)[context];
  const int64_t results = plan.kept.count * plan.length, rows = plan.reduced.count * plan.rows;
  Workspace workspace(context);
  double* partial = workspace.take<double>(chunks * results);
  const int64_t threads = threads_for(context, chunks);
  float* all_sums = workspace.take<float>(threads * kWidestColumns);
  double* all_totals = workspace.take<double>(threads * kWidestColumns);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    double* totals = all_totals + thread * kWidestColumns;
    for (int64_t kept = 0; kept < plan.kept.count; ++kept) {
      for (int64_t first = 0; first < plan.length; first += kWidestColumns) {
        const int64_t width = std::min(kWidestColumns, plan.length - first);
        chunk_loop(plan, kept, first, width, group, chunk_range(rows, chunks, chunk), x,
                   all_sums + thread * kWidestColumns, totals);
        std::copy_n(totals, width, partial + chunk * results + kept * plan.length + first);
      }
    }
  });
  add_partials(plan, chunks, results, scale, x, partial, y);
}

void sum_columns_by_results(Context& context, const SumPlan& plan, int64_t chunks, int group, double scale,
                            const float* x, float* y) {
  const auto chunk_loop = DNN_PER_ISA(columns_chunk)[context];
  const int64_t rows = plan.reduced.count * plan.rows, lines = (plan.length + kLineFloats - 1) / kLineFloats;
  const int64_t blocks_wanted = std::min((chunks + plan.kept.count - 1) / plan.kept.count, (lines + 3) / 4);
  const int64_t widest = std::min((lines + blocks_wanted - 1) / blocks_wanted * kLineFloats, kWidestColumns);
  const int64_t blocks = (plan.length + widest - 1) / widest, tasks = plan.kept.count * blocks;
  chunks = std::min(chunks, tasks);
  Workspace workspace(context);
  const int64_t threads = threads_for(context, chunks);
  float* all_sums = workspace.take<float>(threads * kWidestColumns);
  double* all_totals = workspace.take<double>(threads * kWidestColumns);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(tasks, chunks, chunk);
    double* totals = all_totals + thread * kWidestColumns;
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t kept = task / blocks, first = task % blocks * widest;
      const int64_t width = std::min(widest, plan.length - first);
      chunk_loop(plan, kept, first, width, group, {0, rows}, x, all_sums + thread * kWidestColumns, totals);
      float* to = y + kept * plan.length + first;
      for (int64_t c = 0; c < width; ++c) to[c] = result_of(plan, x, kept * plan.length + first + c, scale, totals[c]);
    }
  });
}

}  // namespace

void scaled_sum(Context& context, const ReduceShape& shape, double scale, const float* x, float* y) {
  if (shape.in_count() == 0) {
    std::fill_n(y, shape.out_count(), static_cast<float>(scale * 0));  // NaN for the mean of no values
    return;
  }
  const SumPlan plan(shape);
  const int64_t chunks = chunk_count(shape.in_count(), 2 * kChunkElements);
  if (plan.runs) return sum_runs(context, plan, chunks, scale, x, y);
  const int group = rows_at_once(plan.length);
  const int64_t rows = plan.reduced.count * plan.rows;
  constexpr int64_t kRowsAPartial = 32;  // a partial result a chunk costs little where it is the sum of so many rows
  if (plan.kept.count < chunks && rows >= chunks * kRowsAPartial) {
    sum_columns_by_rows(context, plan, chunks, group, scale, x, y);
  } else {
    sum_columns_by_results(context, plan, chunks, group, scale, x, y);
  }
}

void sum(Context& context, const ReduceShape& shape, float scale, const float* x, float* y) {
  scaled_sum(context, shape, scale, x, y);
}

}  // namespace dnn::cpu
#endif
