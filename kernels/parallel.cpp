#include <kernels/parallel.h>

#include <omp.h>

#include <exception>
#include <mutex>

namespace dnn {

int threads_for(const Context& context, int64_t chunks) {
  const int most = context.threads > 0 ? context.threads : num_threads();
  return static_cast<int>(std::clamp<int64_t>(chunks, 1, most));
}

namespace detail {

void run_chunks(const Context& context, int64_t chunks, void (*run)(void*, int64_t, int), void* f) {
  const int threads = threads_for(context, chunks);
  if (threads == 1 || omp_in_parallel()) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run(f, chunk, 0);
    return;
  }
  std::exception_ptr fault;
  std::mutex fault_mutex;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    try {
      run(f, chunk, omp_get_thread_num());
    } catch (...) {
      const std::lock_guard lock(fault_mutex);
      if (!fault) fault = std::current_exception();
    }
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace detail
}  // namespace dnn
