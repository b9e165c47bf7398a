#pragma once
#include <algorithm>

#include <kernels/cpu/lines.h>
#include <kernels/cpu/reduce_plan.h>
#include <kernels/parallel.h>

// How a reduction is cut into chunks, and their partial results are joined. A result has kTotals running totals, which
// lie in planes: totals[t * count + i] for the i-th of `count` results. A reduction has
//   kTotals, plan
//   runs(kept, values, totals): of the results `kept`, over the values of these places
//   columns(kept, first, width, group, rows, scratch, totals): of the columns first ... of place `kept`, over these
//     rows; `group` rows are taken as one where `width` is all of a short row, for which a plane of totals and scratch
//     have room
//   join(total, more): total += more
//   finish(first, count, totals): stores the results first ...
namespace dnn::cpu {

// What a reduction is derived from: its loops, in the form of the context's instruction set, over x.
struct ReductionLoops {
  void (*runs_loop)(const ReducePlan&, Range kept, Range values, const float* x, double* totals);
  void (*columns_loop)(const ReducePlan&, int64_t kept, int64_t first, int64_t width, int group, Range rows,
                       const float* x, float* scratch, double* totals);
  const ReducePlan& plan;
  const float* x;

  void runs(Range kept, Range values, double* totals) const { runs_loop(plan, kept, values, x, totals); }
  void columns(int64_t kept, int64_t first, int64_t width, int group, Range rows, float* scratch,
               double* totals) const {
    columns_loop(plan, kept, first, width, group, rows, x, scratch, totals);
  }
};

constexpr int64_t kWidestColumns = 2048;  // whose totals stay in L1

template <class Reduction>
void join_chunks(int64_t chunks, int64_t results, double* partial, const Reduction& reduction) {
  const int64_t count = Reduction::kTotals * results;
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    for (int64_t i = 0; i < count; ++i) reduction.join(partial[i], partial[chunk * count + i]);
  }
  reduction.finish(0, results, partial);
}

// Few results are split within their values, many by result.
template <class Reduction>
void reduce_runs(Context& context, int64_t chunks, const Reduction& reduction) {
  const ReducePlan& plan = reduction.plan;
  const int64_t results = plan.results(), values = plan.cells();
  Workspace workspace(context);
  if (results >= chunks) {
    double* all_totals = workspace.take<double>(Reduction::kTotals * results);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      const Range range = chunk_range(results, chunks, chunk);
      double* totals = all_totals + Reduction::kTotals * range.begin;
      reduction.runs(range, {0, values}, totals);
      reduction.finish(range.begin, range.end - range.begin, totals);
    });
  } else {
    double* partial = workspace.take<double>(chunks * Reduction::kTotals * results);
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      reduction.runs({0, results}, line_range(values, chunks, chunk), partial + chunk * Reduction::kTotals * results);
    });
    join_chunks(chunks, results, partial, reduction);
  }
}

template <class Reduction>
void reduce_columns_by_rows(Context& context, int64_t chunks, const Reduction& reduction) {
  const ReducePlan& plan = reduction.plan;
  constexpr int kTotals = Reduction::kTotals;
  const int64_t results = plan.results(), widest = kWidestColumns / kTotals;
  const int group = rows_at_once(plan.length);
  Workspace workspace(context);
  double* partial = workspace.take<double>(chunks * kTotals * results);
  const int64_t threads = threads_for(context, chunks);
  float* all_scratch = workspace.take<float>(threads * kWidestColumns);
  double* all_totals = workspace.take<double>(threads * kTotals * kWidestColumns);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    double* totals = all_totals + thread * kTotals * kWidestColumns;
    for (int64_t kept = 0; kept < plan.kept.count; ++kept) {
      for (int64_t first = 0; first < plan.length; first += widest) {
        const int64_t width = std::min(widest, plan.length - first);
        reduction.columns(kept, first, width, group, chunk_range(plan.cells(), chunks, chunk),
                          all_scratch + thread * kWidestColumns, totals);
        for (int t = 0; t < kTotals; ++t) {
          std::copy_n(totals + t * width, width,
                      partial + (chunk * kTotals + t) * results + kept * plan.length + first);
        }
      }
    }
  });
  join_chunks(chunks, results, partial, reduction);
}

template <class Reduction>
void reduce_columns_by_results(Context& context, int64_t chunks, const Reduction& reduction) {
  const ReducePlan& plan = reduction.plan;
  constexpr int kTotals = Reduction::kTotals;
  const int group = rows_at_once(plan.length);
  const int64_t lines = (plan.length + kLineFloats - 1) / kLineFloats;
  const int64_t blocks_wanted = std::min((chunks + plan.kept.count - 1) / plan.kept.count, (lines + 3) / 4);
  const int64_t widest = std::min((lines + blocks_wanted - 1) / blocks_wanted * kLineFloats, kWidestColumns / kTotals);
  const int64_t blocks = (plan.length + widest - 1) / widest, tasks = plan.kept.count * blocks;
  chunks = std::min(chunks, tasks);
  Workspace workspace(context);
  const int64_t threads = threads_for(context, chunks);
  float* all_scratch = workspace.take<float>(threads * kWidestColumns);
  double* all_totals = workspace.take<double>(threads * kTotals * kWidestColumns);
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(tasks, chunks, chunk);
    double* totals = all_totals + thread * kTotals * kWidestColumns;
    for (int64_t task = range.begin; task < range.end; ++task) {
      const int64_t kept = task / blocks, first = task % blocks * widest;
      const int64_t width = std::min(widest, plan.length - first);
      reduction.columns(kept, first, width, group, {0, plan.cells()}, all_scratch + thread * kWidestColumns, totals);
      reduction.finish(kept * plan.length + first, width, totals);
    }
  });
}

// Of at least one value.
template <class Reduction>
void run_reduction(Context& context, const Reduction& reduction) {
  const ReducePlan& plan = reduction.plan;
  const int64_t chunks = chunk_count(plan.results() * plan.cells(), 2 * kChunkElements);
  if (plan.runs) return reduce_runs(context, chunks, reduction);
  constexpr int64_t kRowsAPartial = 32;  // a partial result a chunk costs little where it is that of so many rows
  if (plan.kept.count < chunks && plan.cells() >= chunks * kRowsAPartial) {
    reduce_columns_by_rows(context, chunks, reduction);
  } else {
    reduce_columns_by_results(context, chunks, reduction);
  }
}

}  // namespace dnn::cpu
