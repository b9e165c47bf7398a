#include <fmt/format.h>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

// OpenBLAS takes one of these where it doesn't know the CPU.
bool is_old_core(const std::string& core) {
  return core == "Prescott" || core == "Core2" || core == "Penryn" || core == "Nehalem" || core == "Generic";
}

int run(const std::string& json_path) {
  const std::string in_use = backend("cpu").name;
  nlohmann::ordered_json rows;
  fmt::print("libdnn {}\n\ndevices:\n", version());
  for (const Backend* row : backends()) {
    const bool here = available(*row);
    rows.push_back({{"name", row->name}, {"available", here}, {"cpu", row->name == in_use}});
    fmt::print("  {:<14} {}\n", row->name,
               !here                 ? "not available: this CPU lacks its instructions"
               : row->name == in_use ? "available, and what `cpu` stands for"
               : row->name == "meta" ? "shapes and memory only"
                                     : "available");
  }
  fmt::print("\nthreads: {}\n", num_threads());
  fmt::print("OpenBLAS: {}\n",
             openblas_built() ? "compiled in, its kernels are for " + openblas_core() : "not compiled in");
  if (openblas_built() && is_old_core(openblas_core()) && in_use != "cpu_baseline") {
    fmt::print(
        "warning: OpenBLAS chose {} kernels, several times slower than this CPU allows; DNN_GEMM=packed is faster\n",
        openblas_core());
  }
  write_json(json_path, {{"version", version()},
                         {"devices", rows},
                         {"threads", num_threads()},
                         {"openblas", openblas_built()},
                         {"openblas_core", openblas_core()}});
  return 0;
}

}  // namespace

Command add_info(CLI::App& app) {
  const auto json = std::make_shared<std::string>();
  add_json_option(app, *json, "also write it to this file");
  return [json] { return run(*json); };
}

}  // namespace dnn::cli
