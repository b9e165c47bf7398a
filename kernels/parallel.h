#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <kernels/context.h>

namespace dnn {

namespace detail {
void run_chunks(const Context& context, int64_t chunks, void (*run)(void* f, int64_t chunk, int thread), void* f);
}

// Runs f(chunk, thread) for every chunk in [0, chunks); `thread` is below threads_for(context, chunks) and tells
// which private scratch to use. The only parallel loop of the library. The caller derives `chunks` from the shape
// alone and adds partial results in the order of the chunks: then the bits don't depend on the number of threads.
// One chunk runs in place, at the cost of a call. The first exception is rethrown after all threads have finished.
template <class F>
void parallel_for(const Context& context, int64_t chunks, F&& f) {
  using Function = std::remove_reference_t<F>;
  detail::run_chunks(
      context, chunks, [](void* g, int64_t chunk, int thread) { (*static_cast<Function*>(g))(chunk, thread); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

int threads_for(const Context& context, int64_t chunks);

// How many chunks of at least `grain` (elements, rows, ...) to make of `count`: from the count alone.
inline int64_t chunk_count(int64_t count, int64_t grain, int64_t most = 64) {
  if (count <= 0) return 0;
  return std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, most);
}

// The grain of loops that are bound by memory: below it a second thread costs more than it brings.
constexpr int64_t kChunkElements = 16384;

struct Range {
  int64_t begin, end;
};

inline Range chunk_range(int64_t count, int64_t chunks, int64_t chunk) {
  return {count * chunk / chunks, count * (chunk + 1) / chunks};
}

}  // namespace dnn
