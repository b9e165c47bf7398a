#include <kernels/backend.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>

#include <cstdlib>

#include <kernels/cpu/cpu.h>
#include <kernels/cpu/gemm_methods.h>
#include <kernels/meta.h>
#include <kernels/reference/reference.h>

namespace dnn {

const std::vector<const Backend*>& backends() {
  // Never destroyed: the destructors of static variables may run kernels too.
  static const std::vector<const Backend*>& rows = *new std::vector<const Backend*>{
      new Backend(reference::make_backend()), new Backend(cpu::make_backend("cpu_baseline", Isa::baseline)),
      new Backend(cpu::make_backend("cpu_avx2", Isa::avx2)), new Backend(cpu::make_backend("cpu_avx512", Isa::avx512)),
      new Backend(meta::make_backend())};
  return rows;
}

bool available(const Backend& backend) {
  switch (backend.isa) {
    case Isa::avx2:
      return (hwy::SupportedTargets() & HWY_AVX2) != 0;
    case Isa::avx512:
      return (hwy::SupportedTargets() & HWY_AVX3) != 0;
    case Isa::baseline:
      break;
  }
  return true;
}

bool openblas_built() { return cpu::openblas_built(); }
std::string openblas_core() { return cpu::openblas_core(); }

namespace {

std::string cpu_row() {
  const char* asked = std::getenv("DNN_ISA");
  if (asked && *asked) {
    const std::string isa = asked;
    if (isa != "baseline" && isa != "avx2" && isa != "avx512") {
      throw Error(fmt::format("[backend] DNN_ISA is one of baseline, avx2, avx512; got '{}'", isa));
    }
    return "cpu_" + isa;
  }
  for (const char* name : {"cpu_avx512", "cpu_avx2"}) {
    for (const Backend* row : backends()) {
      if (row->name == name && available(*row)) return name;
    }
  }
  return "cpu_baseline";
}

}  // namespace

const Backend& backend(const std::string& name) {
  if (name == "cpu") {
    static const std::string& chosen = *new std::string(cpu_row());  // never destroyed, as the rows
    return backend(chosen);
  }
  std::vector<std::string> names{"cpu"};
  for (const Backend* row : backends()) {
    if (row->name == name) {
      if (available(*row)) return *row;
      throw Error(fmt::format("[backend] this CPU has not the instructions of {}", name));
    }
    names.push_back(row->name);
  }
  throw Error(fmt::format("[backend] there is {}; got '{}'", fmt::join(names, ", "), name));
}

void detail::throw_missing_kernel(const char* name, bool float64, const Backend& backend) {
  const std::string row = &backend == &dnn::backend("cpu") ? "cpu" : backend.name;
  if (!float64) throw Error(fmt::format("[{}] no kernel on {}", name, row));
  throw Error(fmt::format("[{}] no float64 kernel on {}; the device reference has them", name, row));
}

}  // namespace dnn
