#include <kernels/context.h>

#include <array>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <kernels/parallel.h>

#include "rows.h"

namespace dnn::test {
namespace {

TEST_CASE("workspace: aligned pieces that don't overlap", "[context]") {
  Context context(reference_row());
  Workspace workspace(context);
  std::vector<std::pair<char*, int64_t>> pieces;
  for (const int64_t bytes : {1, 63, 64, 65, 100000, 0, 2000000, 7}) {
    char* piece = workspace.take<char>(bytes);
    CHECK(reinterpret_cast<uintptr_t>(piece) % 64 == 0);
    std::fill(piece, piece + bytes, static_cast<char>(pieces.size()));
    pieces.emplace_back(piece, bytes);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto [piece, bytes] = pieces[i];
    CHECK(std::all_of(piece, piece + bytes, [&](char value) { return value == static_cast<char>(i); }));
  }
}

TEST_CASE("workspace: an inner one gives its memory back and leaves the outer one's alone", "[context]") {
  Context context(reference_row());
  Workspace outer(context);
  double* kept = outer.take<double>(1000);
  std::fill(kept, kept + 1000, 1.5);
  double* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    Workspace inner(context);
    double* taken = inner.take<double>(5000);
    if (round == 0) first = taken;
    CHECK(taken == first);
    std::fill(taken, taken + 5000, -1.0);
    // More than the block holds: a second block, while the pieces taken stay where they are.
    double* more = inner.take<double>(1 << 20);
    std::fill(more, more + (1 << 20), -2.0);
    CHECK(std::all_of(taken, taken + 5000, [](double value) { return value == -1; }));
  }
  CHECK(outer.take<double>(1) == first);
  CHECK(std::all_of(kept, kept + 1000, [](double value) { return value == 1.5; }));
}

TEST_CASE("workspace: grows to the largest need, then allocates no more", "[context]") {
  const Backend& row = reference_row();
  Context context(row);
  const auto step = [&] {
    Workspace outer(context);
    outer.take<float>(100);
    {
      Workspace inner(context);
      inner.take<float>(400000);
      inner.take<float>(700000);
    }
    Workspace inner(context);
    inner.take<float>(900000);
  };
  step();
  const int64_t before = row.device.allocations();
  for (int round = 0; round < 10; ++round) step();
  CHECK(row.device.allocations() == before);
  {
    Workspace larger(context);
    larger.take<float>(3000000);
  }
  const int64_t grown = row.device.allocations();
  CHECK(grown > before);
  for (int round = 0; round < 10; ++round) {
    Workspace larger(context);
    larger.take<float>(3000000);
    step();
  }
  // The last loop needs both at once: the block grows once more, at the first round's end.
  const int64_t steady = row.device.allocations();
  for (int round = 0; round < 10; ++round) {
    Workspace larger(context);
    larger.take<float>(3000000);
    step();
  }
  CHECK(row.device.allocations() == steady);
}

// Counts what a context takes, and keeps to a limit.
class Source final : public WorkspaceMemory {
 public:
  Block take(size_t bytes) override {
    if (held + bytes > limit) throw Error("[test] no more");
    held += bytes;
    return {reference_row().device.alloc(0, bytes, nullptr), bytes, this};
  }
  void give_back(const Block& block, Context& user) override {
    CHECK(block.handle == this);
    CHECK(user.memory == this);
    held -= block.bytes;
    reference_row().device.free(0, block.data, block.bytes);
  }

  size_t held = 0, limit = size_t{1} << 40;
};

TEST_CASE("workspace: from a source of memory", "[context]") {
  Source source;
  {
    Context context(reference_row(), 0, StreamKind::compute, &source);
    CHECK(source.held == 0);
    {
      Workspace workspace(context);
      workspace.take<char>(100);
      workspace.take<char>(5000000);
      CHECK(source.held >= 5000100);
    }
    const size_t held = source.held;
    CHECK(held >= 5000100);  // in one block from now on
    {
      Workspace workspace(context);
      workspace.take<char>(5000000);
      CHECK(source.held == held);
      source.limit = held + (size_t{8} << 20);
      workspace.take<char>(5000000);
      CHECK_THROWS_WITH(workspace.take<char>(5000000), "[test] no more");
    }
    Workspace workspace(context);  // what there was before serves
    workspace.take<char>(5000000);
  }
  CHECK(source.held == 0);
}

TEST_CASE("parallel_for: every chunk once, whatever the number of threads", "[context]") {
  for (const int threads : {1, 2, 3, 16}) {
    for (const int64_t chunks : {0, 1, 2, 3, 7, 64, 1000}) {
      INFO(threads << " threads, " << chunks << " chunks");
      Context context(reference_row());
      context.threads = threads;
      CHECK(threads_for(context, chunks) >= 1);
      CHECK(threads_for(context, chunks) <= threads);
      CHECK(threads_for(context, chunks) <= std::max<int64_t>(chunks, 1));
      std::vector<std::atomic<int>> calls(chunks);
      std::atomic<bool> thread_in_range{true};
      parallel_for(context, chunks, [&](int64_t chunk, int thread) {
        ++calls[chunk];
        if (thread < 0 || thread >= threads_for(context, chunks)) thread_in_range = false;
      });
      CHECK(std::all_of(calls.begin(), calls.end(), [](const std::atomic<int>& count) { return count == 1; }));
      CHECK(thread_in_range);
    }
  }
}

TEST_CASE("parallel_for: a loop within a loop runs in its thread", "[context]") {
  Context context(reference_row());
  context.threads = 3;
  std::atomic<int> calls{0};
  parallel_for(context, 6, [&](int64_t, int) {
    parallel_for(context, 5, [&](int64_t, int thread) { calls += thread == 0 ? 1 : 1000; });
  });
  CHECK(calls == 30);
}

TEST_CASE("parallel_for: an exception reaches the caller", "[context]") {
  for (const int threads : {1, 3}) {
    Context context(reference_row());
    context.threads = threads;
    const auto fail = [&] {
      parallel_for(context, 20, [&](int64_t chunk, int) {
        if (chunk == 7) throw Error("[test] chunk 7");
      });
    };
    CHECK_THROWS_WITH(fail(), "[test] chunk 7");
    // The loop works again afterwards.
    std::atomic<int> calls{0};
    parallel_for(context, 20, [&](int64_t, int) { ++calls; });
    CHECK(calls == 20);
  }
}

// The chunks write plain memory: under a thread sanitizer this also tests that the pool orders what they do before what
// the caller does next.
TEST_CASE("parallel_for: calls in quick succession from several threads don't mix", "[context]") {
  std::atomic<int64_t> wrong{0};
  const auto caller = [&](int64_t seed) {
    Context context(reference_row());
    std::vector<int64_t> results(23);
    for (int64_t call = 0; call < 3000; ++call) {
      context.threads = static_cast<int>(1 + (call + seed) % 5);
      const int64_t chunks = (call * 7 + seed) % 23;
      const bool fails = call % 11 == 0 && chunks > 3;
      bool caught = false;
      std::fill(results.begin(), results.end(), 0);
      try {
        parallel_for(context, chunks, [&](int64_t chunk, int) {
          if (fails && chunk == 3) throw Error("[test] chunk 3");
          results[chunk] += (chunk + 1) * (call + 1);
        });
      } catch (const Error&) {
        caught = true;
      }
      const int64_t sum = std::accumulate(results.begin(), results.end(), int64_t{0});
      if (caught != fails) ++wrong;
      if (!fails && sum != chunks * (chunks + 1) / 2 * (call + 1)) ++wrong;
    }
  };
  std::thread second(caller, 1), third(caller, 2);
  caller(0);
  second.join();
  third.join();
  CHECK(wrong == 0);
}

TEST_CASE("parallel_for: the number of threads may be set while a loop runs", "[context]") {
  const int before = num_threads();
  std::atomic<bool> stop{false};
  std::thread setter([&] {
    for (int i = 0; !stop; ++i) set_num_threads(1 + i % 4);
  });
  int64_t wrong = 0;
  for (int64_t call = 0; call < 1000; ++call) {
    Context context(reference_row());
    std::array<int64_t, 8> results{};
    parallel_for(context, 8, [&](int64_t chunk, int) { results[chunk] = chunk + call; });
    for (int64_t chunk = 0; chunk < 8; ++chunk) wrong += results[chunk] != chunk + call;
  }
  stop = true;
  setter.join();
  set_num_threads(before);
  CHECK(wrong == 0);
}

TEST_CASE("chunks: they part the range, from the count alone", "[context]") {
  CHECK(chunk_count(0, 100) == 0);
  CHECK(chunk_count(1, 100) == 1);
  CHECK(chunk_count(199, 100) == 1);
  CHECK(chunk_count(200, 100) == 2);
  CHECK(chunk_count(1000000, 100) == 64);
  CHECK(chunk_count(1000000, 100, 8) == 8);
  CHECK(chunk_count(10, 0) == 10);
  for (const int64_t count : {int64_t{1}, int64_t{7}, int64_t{64}, int64_t{100003}, int64_t{5000000000}}) {
    const int64_t chunks = chunk_count(count, 3);
    int64_t expected = 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const Range range = chunk_range(count, chunks, chunk);
      REQUIRE(range.begin == expected);
      REQUIRE(range.end > range.begin);
      expected = range.end;
    }
    CHECK(expected == count);
  }
}

TEST_CASE("threads: the setting and the context's own", "[context]") {
  const int before = num_threads();
  CHECK(before >= 1);
  set_num_threads(5);
  Context context(reference_row());
  CHECK(num_threads() == 5);
  CHECK(threads_for(context, 100) == 5);
  CHECK(threads_for(context, 3) == 3);
  context.threads = 2;
  CHECK(threads_for(context, 100) == 2);
  set_num_threads(before);
  CHECK_THROWS_WITH(set_num_threads(0), "[set_num_threads] takes 1 to 1024 threads; got 0");
  CHECK(num_threads() == before);
}

}  // namespace
}  // namespace dnn::test
