#include <bench/machine.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include <bench/simd/peak_loops.h>
#include <kernels/host_memory.h>
#include <kernels/parallel.h>

namespace dnn::bench {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Two host arrays, kept between measurements: fresh pages would cost more than the copy.
float* copy_scratch(int64_t count) {
  static std::vector<float> scratch;
  if (static_cast<int64_t>(scratch.size()) < count) scratch.assign(static_cast<size_t>(count), 1.0f);
  return scratch.data();
}

}  // namespace

std::vector<const Backend*> cpu_rows() {
  std::vector<const Backend*> rows;
  for (const Backend* row : backends()) {
    if (row->name.rfind("cpu_", 0) == 0 && available(*row)) rows.push_back(row);
  }
  return rows;
}

// Whole huge pages, as the tensors of the library lie in.
Array::Array(const Backend& row, int64_t count, uint32_t seed)
    : row_(row),
      bytes_((static_cast<size_t>(count) * sizeof(float) + kHugePage - 1) / kHugePage * kHugePage),
      data_(static_cast<float*>(row.device.alloc(0, bytes_, nullptr))) {
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  Context context(row);
  row.device.copy_from_host(context, data_, values.data(), values.size() * sizeof(float));
}

Array::~Array() { row_.device.free(0, data_, bytes_); }

double fma_peak_gflops(const Context& context) {
  const auto loop = peak_loops[context].fma;
  const int64_t threads = threads_for(context, int64_t{1} << 20);
  // As many rounds as take about a millisecond.
  int64_t rounds = 1000;
  for (double seconds = 0; seconds < 1e-3; rounds *= 2) {
    const auto begin = std::chrono::steady_clock::now();
    loop(rounds);
    seconds = seconds_since(begin);
  }
  std::vector<double> gflops;
  for (int burst = 0; burst < 5; ++burst) {
    std::vector<double> flops(static_cast<size_t>(threads));
    const auto begin = std::chrono::steady_clock::now();
    parallel_for(context, threads, [&](int64_t chunk, int) { flops[chunk] = loop(rounds); });
    const double seconds = seconds_since(begin);
    double total = 0;
    for (const double f : flops) total += f;
    gflops.push_back(total / seconds * 1e-9);
  }
  return median(gflops);
}

double copy_speed_gbs(const Context& context, int64_t bytes) {
  const auto loop = peak_loops[context].copy;
  const int64_t count = std::max<int64_t>(bytes / 8, 1);
  float* x = copy_scratch(2 * count);
  float* y = x + count;
  const int64_t chunks = chunk_count(count, kChunkElements);
  const auto pass = [&] {
    parallel_for(context, chunks, [&](int64_t chunk, int) {
      const Range range = chunk_range(count, chunks, chunk);
      loop(range.end - range.begin, x + range.begin, y + range.begin);
    });
  };
  pass();
  std::vector<double> gbs;
  for (int burst = 0; burst < 5; ++burst) {
    const auto begin = std::chrono::steady_clock::now();
    double seconds = 0;
    int64_t passes = 0;
    do {
      pass();
      ++passes;
      seconds = seconds_since(begin);
    } while (seconds < 5e-4);
    gbs.push_back(static_cast<double>(passes * 8 * count) / seconds * 1e-9);
  }
  return median(gbs);
}

int64_t far_beyond_cache_bytes() {
  const int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);  // glibc tells some machines' sum over all sockets
  return std::clamp<int64_t>(4 * cache, int64_t{128} << 20, int64_t{256} << 20);
}

Meter::Meter(benchmark::State& state, const Context& context, double flops, double bytes)
    : state_(state), context_(context), flops_(flops), bytes_(bytes) {
  measure();
  begin_ = std::chrono::steady_clock::now();
}

void Meter::measure() {
  if (!context_.backend.device.host_memory) return;
  if (flops_ > 0) peaks_.push_back(fma_peak_gflops(context_));
  if (bytes_ > 0) {
    const double most = static_cast<double>(far_beyond_cache_bytes());
    copies_.push_back(copy_speed_gbs(context_, static_cast<int64_t>(std::min(bytes_, most))));
  }
}

Meter::~Meter() {
  const double seconds = seconds_since(begin_) / static_cast<double>(std::max<int64_t>(state_.iterations(), 1));
  measure();
  const double gflops = flops_ / seconds * 1e-9, gbs = bytes_ / seconds * 1e-9;
  if (flops_ > 0) state_.counters["GFLOP/s"] = gflops;
  if (!peaks_.empty()) state_.counters["peak_share"] = gflops / median(peaks_);
  if (bytes_ > 0) state_.counters["GB/s"] = gbs;
  if (!copies_.empty()) state_.counters["copy_share"] = gbs / median(copies_);
}

}  // namespace dnn::bench
