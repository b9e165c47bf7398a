#include <cstdlib>
#include <fstream>
#include <string>
#include <unordered_map>

#include "launch_state.h"
#include "state.h"

namespace emu {
namespace {

auto& counts_by_name = *new std::unordered_map<std::string, int>;
auto& counts_by_kernel = *new std::unordered_map<const void*, int>;

}  // namespace

void load_register_counts(const std::string& csv_file) {
  const std::lock_guard lock(model_mutex());
  std::ifstream file(csv_file);
  if (!file) fault(cudaSuccess, "no file of register counts at %s", csv_file.c_str());
  counts_by_kernel.clear();
  for (std::string line; std::getline(file, line);) {
    const size_t comma = line.find(',');
    if (comma == std::string::npos) continue;
    counts_by_name[line.substr(0, comma)] = std::atoi(line.c_str() + comma + 1);
  }
}

int registers_of(const void* kernel) {
  static const bool asked = [] {
    const char* const file = std::getenv("EMU_REGISTERS");
    if (file) load_register_counts(file);
    return file != nullptr;
  }();
  (void)asked;
  if (counts_by_name.empty()) return 0;
  const auto [place, is_new] = counts_by_kernel.try_emplace(kernel, 0);
  if (is_new) {
    const auto found = counts_by_name.find(mangled_name(kernel));
    if (found != counts_by_name.end()) place->second = found->second;
  }
  return place->second;
}

}  // namespace emu
