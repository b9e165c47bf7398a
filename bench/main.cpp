#include <bench/machine.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

namespace {

// Takes --threads=N or --threads N out of the arguments.
void take_threads(int& argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    std::string value;
    if (argument.rfind("--threads=", 0) == 0) {
      value = argument.substr(10);
    } else if (argument == "--threads" && i + 1 < argc) {
      value = argv[++i];
    } else {
      argv[kept++] = argv[i];
      continue;
    }
    dnn::set_num_threads(std::atoi(value.c_str()));
  }
  argc = kept;
}

void describe_machine() {
  using namespace dnn::bench;
  benchmark::AddCustomContext("threads", std::to_string(dnn::num_threads()));
  for (const dnn::Backend* row : cpu_rows()) {
    const dnn::Context context(*row);
    benchmark::AddCustomContext(
        row->name,
        fmt::format("FMA peak {:.1f} GFLOP/s, copy {:.1f} GB/s over {:.1f} MB, {:.1f} GB/s over {:.0f} MB",
                    fma_peak_gflops(context), copy_speed_gbs(context, kCacheResidentBytes),
                    static_cast<double>(kCacheResidentBytes) * 1e-6, copy_speed_gbs(context, far_beyond_cache_bytes()),
                    static_cast<double>(far_beyond_cache_bytes()) * 1e-6));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    take_threads(argc, argv);
    dnn::bench::register_benchmarks();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    describe_machine();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const dnn::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
