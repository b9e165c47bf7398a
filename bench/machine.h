#pragma once
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <kernels/backend.h>

// What every program in bench/ shares. A program is one x_bench.cpp that defines register_benchmarks() with calls of
// add(); main() is in main.cpp and takes --threads=N and --batch=N beside Google Benchmark's own flags. gemm_bench.cpp
// is the pattern.
namespace dnn::bench {

void register_benchmarks(int batch);  // defined by each program; batch: of those that have one

std::vector<const Backend*> cpu_rows();  // the CPU rows that this machine can run; not reference, not meta

// Operand in the memory of a row, filled with seeded values in [-1, 1).
class Array {
 public:
  Array(const Backend& row, int64_t count, uint32_t seed = 1);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  float* get() const { return data_; }

 private:
  const Backend& row_;
  size_t bytes_;
  float* data_;
};

// Multiply-adds in registers, all threads of the context at once, in GFLOP/s: the median of a few bursts of 1 ms.
double fma_peak_gflops(const Context& context);

// Copy loop over so many bytes, half of them read and half written, in GB/s of both: the median of a few passes.
double copy_speed_gbs(const Context& context, int64_t bytes);

constexpr int64_t kCacheResidentBytes = 600 * 1000;  // two arrays of 0.3 MB
int64_t far_beyond_cache_bytes();                    // four times the last cache, from 128 to 256 MiB

// Stands right before a benchmark's loop, in a scope of its own: it times the loop too. Measures the machine before
// and, on leaving, after it, and sets the counters
//   GFLOP/s, peak_share: of the median FMA peak of the row's instruction set with the context's threads
//   GB/s, copy_share: of the median copy speed over as many bytes (at most far_beyond_cache_bytes)
// from `flops` and `bytes` of one iteration; those that are 0 are left out.
class Meter {
 public:
  Meter(benchmark::State& state, const Context& context, double flops, double bytes);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

 private:
  void measure();

  benchmark::State& state_;
  const Context& context_;
  double flops_, bytes_;
  std::vector<double> peaks_, copies_;
  std::chrono::steady_clock::time_point begin_;
};

// The loop of nearly every benchmark: times f().
template <class F>
void measure(benchmark::State& state, Context& context, double flops, double bytes, F&& f) {
  f();
  const Meter meter(state, context, flops, bytes);
  for (auto _ : state) {
    f();
    context.backend.device.synchronize(context);
  }
}

// Registers a benchmark of wall time; spaces in the name become underscores.
template <class F>
benchmark::internal::Benchmark* add(std::string name, F&& f) {
  for (char& c : name) c = c == ' ' ? '_' : c;
  return benchmark::RegisterBenchmark(name.c_str(), std::forward<F>(f))->UseRealTime()->Unit(benchmark::kMicrosecond);
}

}  // namespace dnn::bench
