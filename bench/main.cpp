#include <bench/machine.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

namespace {

// Takes --name=N or --name N out of the arguments; `otherwise` where it is not among them.
int take_option(int& argc, char** argv, const std::string& name, int otherwise) {
  const std::string flag = "--" + name;
  int kept = 1, found = otherwise;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind(flag + "=", 0) == 0) {
      found = std::atoi(argument.c_str() + flag.size() + 1);
    } else if (argument == flag && i + 1 < argc) {
      found = std::atoi(argv[++i]);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return found;
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
    dnn::set_num_threads(take_option(argc, argv, "threads", dnn::num_threads()));
    dnn::bench::register_benchmarks(take_option(argc, argv, "batch", 32));
    const bool describe = take_option(argc, argv, "describe", 1) != 0;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    if (describe) describe_machine();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const dnn::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
