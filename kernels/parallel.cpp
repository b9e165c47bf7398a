#include <kernels/parallel.h>

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <kernels/error.h>

namespace dnn {
namespace {

thread_local bool inside_chunk = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Threads that take chunks off the call in progress. The calling thread takes chunks too and waits only for those that
// others have taken, never for a thread to arrive: on a machine that is busy with other work a call costs no more than
// its own work, where a team with a barrier would wait for its slowest member to be scheduled. After fork() a child has
// no workers, and does all itself.
class Pool {
 public:
  static Pool& instance() {
    static Pool& pool = *new Pool;  // lives to the end of the process, as its threads do
    return pool;
  }

  // False where another thread's call is in progress.
  bool run(int threads, int64_t chunks, void (*f)(void*, int64_t, int), void* data) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock) return false;
    while (workers_ < threads - 1) {
      try {
        std::thread([this, id = workers_ + 1] { work(id); }).detach();
      } catch (const std::system_error& error) {
        throw Error(fmt::format("[threads] the system starts no more than {} of {} threads: {}; see set_num_threads",
                                workers_ + 1, threads, error.what()));
      }
      ++workers_;
    }
    // No chunk can be taken until the state is stored, so that nobody acts on half of these.
    run_ = f;
    data_ = data;
    threads_ = threads;
    chunks_ = static_cast<uint32_t>(chunks);
    done_ = 0;
    const uint64_t call = ((state_.load() >> 32) + 1) << 32;
    state_.store(call);
    state_.notify_all();

    while (take_chunk(0)) continue;
    for (uint32_t done = done_.load(); done != chunks; done = done_.load()) {
      if (!spin([&] { return done_.load() != done; })) done_.wait(done);
    }
    state_.store(call | kClosed);
    if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
    return true;
  }

 private:
  // Looks for about 50 microseconds, which is more than lies between two kernels of a net.
  template <class Condition>
  static bool spin(Condition&& condition) {
    constexpr int kLooks = 1500;
    for (int i = 0; i < kLooks; ++i) {
      if (condition()) return true;
      pause();
    }
    return false;
  }

  // The state is the number of the call in its upper half and the next chunk in its lower: taking a chunk succeeds only
  // while the call is still the one whose fields were read. Between calls it is closed: more than any count of chunks.
  static constexpr uint64_t kClosed = 0xFFFFFFFF;

  bool take_chunk(int id) {
    uint64_t state = state_.load();
    for (;;) {
      const auto chunk = static_cast<uint32_t>(state);
      const auto run = run_.load(std::memory_order_relaxed);
      void* const data = data_.load(std::memory_order_relaxed);
      if (chunk >= chunks_.load(std::memory_order_relaxed) || id >= threads_.load(std::memory_order_relaxed))
        return false;
      if (!state_.compare_exchange_weak(state, state + 1)) continue;
      inside_chunk = true;
      try {
        run(data, chunk, id);
      } catch (...) {
        const std::lock_guard lock(fault_mutex_);
        if (!fault_) fault_ = std::current_exception();
      }
      inside_chunk = false;
      done_.fetch_add(1);
      done_.notify_one();
      return true;
    }
  }

  void work(int id) {
    for (;;) {
      const uint64_t seen = state_.load();
      if (take_chunk(id)) continue;
      if (!spin([&] { return state_.load() != seen; })) state_.wait(seen);
    }
  }

  std::mutex busy_;  // held by the thread whose call is in progress
  int workers_ = 0;  // threads, which live to the end of the process
  alignas(64) std::atomic<uint64_t> state_{kClosed};
  alignas(64) std::atomic<uint32_t> done_{0};
  alignas(64) std::atomic<void (*)(void*, int64_t, int)> run_{nullptr};
  std::atomic<void*> data_{nullptr};
  std::atomic<uint32_t> chunks_{0};
  std::atomic<int> threads_{0};
  std::mutex fault_mutex_;
  std::exception_ptr fault_;
};

}  // namespace

int threads_for(const Context& context, int64_t chunks) {
  const int most = context.threads > 0 ? context.threads : num_threads();
  return static_cast<int>(std::clamp<int64_t>(chunks, 1, most));
}

void detail::run_chunks(const Context& context, int64_t chunks, void (*run)(void*, int64_t, int), void* f) {
  const int threads = threads_for(context, chunks);
  if (threads > 1 && chunks <= INT32_MAX && !inside_chunk && Pool::instance().run(threads, chunks, run, f)) return;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) run(f, chunk, 0);
}

}  // namespace dnn
