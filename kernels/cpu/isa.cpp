#include <kernels/cpu/isa.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>

#include <cstdlib>

#include <kernels/cpu/cpu.h>

namespace dnn::cpu {
namespace {

struct IsaEntry {
  const char* name;  // as DNN_ISA has it
  Isa isa;
  int64_t target;  // Highway's; 0 for the platform's base
  const char* instructions;
};

// The best one last.
constexpr IsaEntry kIsas[] = {{"baseline", Isa::baseline, 0, ""},
                              {"avx2", Isa::avx2, HWY_AVX2, "AVX2"},
                              {"avx512", Isa::avx512, HWY_AVX3, "AVX-512"}};

bool supported(const IsaEntry& entry) { return entry.target == 0 || (hwy::SupportedTargets() & entry.target) != 0; }

std::string unavailable_because(const Backend& row) {
  const IsaEntry& entry = kIsas[row.variant];
  return supported(entry) ? "" : fmt::format("needs {}, which this CPU lacks", entry.instructions);
}

}  // namespace

std::vector<Backend> make_backends() {
  std::vector<Backend> rows;
  for (const IsaEntry& entry : kIsas) {
    rows.push_back(make_backend(fmt::format("cpu_{}", entry.name)));
    rows.back().variant = static_cast<int>(entry.isa);
    rows.back().unavailable_because = unavailable_because;
  }
  return rows;
}

std::string best_row() {
  const char* const asked = std::getenv("DNN_ISA");
  const bool any = !asked || !*asked;
  std::vector<std::string> names;
  std::string best;
  for (const IsaEntry& entry : kIsas) {
    names.emplace_back(entry.name);
    if (any ? supported(entry) : asked == names.back()) best = fmt::format("cpu_{}", entry.name);
  }
  if (best.empty()) {
    throw Error(fmt::format("[device] DNN_ISA is one of {}; got '{}'", fmt::join(names, ", "), asked));
  }
  return best;
}

}  // namespace dnn::cpu
