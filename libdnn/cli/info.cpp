#include <fmt/format.h>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

// OpenBLAS takes one of these where it doesn't know the CPU.
bool is_old_core(const std::string& core) {
  return core == "Prescott" || core == "Core2" || core == "Penryn" || core == "Nehalem" || core == "Generic";
}

int run(const std::string& json_path) {
  nlohmann::ordered_json rows;
  std::string in_use;
  fmt::print("libdnn {}\n\ndevices:\n", version());
  for (const DeviceRow& row : device_rows()) {
    const bool here = row.unavailable_because.empty();
    if (row.is_cpu) in_use = row.name;
    rows.push_back({{"name", row.name},
                    {"available", here},
                    {"unavailable_because", row.unavailable_because},
                    {"devices", row.devices},
                    {"description", row.description},
                    {"cpu", row.is_cpu}});
    fmt::print("  {:<14} {}\n", row.name,
               !here             ? "not available: " + row.unavailable_because
               : row.is_cpu      ? row.description + ", what `cpu` stands for"
               : row.devices > 1 ? fmt::format("{}, {} devices", row.description, row.devices)
                                 : row.description);
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
