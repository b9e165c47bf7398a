#pragma once
#include <kernels/parallel.h>

namespace dnn::reference {

// f(row, thread) for every row in [0, rows), on several threads where there are enough operations to share: a row is
// computed by one thread in one order, so the bits don't depend on it.
template <class F>
void for_each_row(const Context& context, int64_t rows, int64_t operations_of_row, F&& f) {
  constexpr int64_t kOperationsOfChunk = int64_t{1} << 18;
  const int64_t chunks = chunk_count(rows, kOperationsOfChunk / (operations_of_row + 1));
  parallel_for(context, chunks, [&](int64_t chunk, int thread) {
    const Range range = chunk_range(rows, chunks, chunk);
    for (int64_t row = range.begin; row < range.end; ++row) f(row, thread);
  });
}

}  // namespace dnn::reference
