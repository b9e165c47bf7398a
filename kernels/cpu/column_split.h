#pragma once
#include <algorithm>
#include <cstdint>

#include <kernels/cpu/lines.h>
#include <kernels/shapes.h>

namespace dnn::cpu {

// How work on (rows, cols) is split where every column has sums over the rows: by rows, each chunk with a set of sums
// of its own, or, where the rows are few, by columns.
struct ColumnSplit {
  int64_t rows;
  int cols;
  int group = 1;  // so many rows are taken as one, see rows_at_once()
  int64_t row_chunks = 1, col_chunks = 1;

  explicit ColumnSplit(const RowsShape& shape) : rows(shape.rows), cols(shape.cols) {
    constexpr int64_t kRowsASet = 64;  // adding up the sets costs little where each is the sum of so many rows
    constexpr int64_t kEnoughChunks = 8;
    const int64_t chunks = std::max<int64_t>(1, chunk_count(shape.count(), kChunkElements));
    const int64_t by_rows = std::min(chunks, rows / kRowsASet);
    if (by_rows >= std::min(chunks, kEnoughChunks)) {
      group = rows_at_once(cols);
      row_chunks = by_rows;
    } else {
      col_chunks = std::min(chunks, chunk_count(cols, 2 * kLineFloats));
    }
  }

  int64_t chunks() const { return row_chunks * col_chunks; }
  int64_t set_of(int64_t chunk) const { return chunk / col_chunks; }
  int width() const { return group * cols; }  // of the longest run

  Range rows_of_set(int64_t set) const {
    const Range groups = chunk_range((rows + group - 1) / group, row_chunks, set);
    return {groups.begin * group, std::min(rows, groups.end * group)};
  }

  // f(at, col, rows, width, pitch) for the runs of a chunk: `rows` rows of `width` values from element `at` on, the
  // first in column `col`. They are several columns' rows laid side by side where width is a multiple of cols.
  template <class F>
  void for_runs(int64_t chunk, F&& f) const {
    const auto [first, last] = line_range(cols, col_chunks, chunk % col_chunks);
    const auto [begin, end] = rows_of_set(set_of(chunk));
    const int64_t whole = (end - begin) / group, rest = (end - begin) % group;
    const int wide = static_cast<int>(group * (last - first));
    if (whole > 0) f(begin * cols + first, first, whole, wide, int64_t{group} * cols);
    if (rest > 0) f((end - rest) * cols, 0, rest, cols, cols);
  }

  // sums[c] += the sums over a run's columns c; several rows side by side are added up.
  void add_run(int run_width, const double* totals, double* sums) const {
    const int side = std::min(run_width, cols);
    for (int i = 0; i < run_width; i += side) {
      for (int c = 0; c < side; ++c) sums[c] += totals[i + c];
    }
  }

  // One value a column, repeated for each row of a group.
  void repeat(float* values) const {
    for (int row = 1; row < group; ++row) std::copy_n(values, cols, values + int64_t{row} * cols);
  }
};

}  // namespace dnn::cpu
