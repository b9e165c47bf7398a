#include <cstdio>
#include <fstream>
#include <map>

#include <emulation/control.h>

// Lines of kernels that move more than they need to.
namespace emu {
namespace {

// The line's comment gives a reason.
bool is_excused(const std::string& file, int line) {
  static auto& files = *new std::map<std::string, std::vector<std::string>>;
  const auto [found, is_new] = files.try_emplace(file);
  std::vector<std::string>& lines = found->second;
  if (is_new) {
    std::ifstream source(file);
    for (std::string text; std::getline(source, text);) lines.push_back(text);
  }
  if (line < 1 || static_cast<size_t>(line) > lines.size()) return false;
  const std::string& text = lines[static_cast<size_t>(line) - 1];
  const size_t comment = text.find("//");
  if (comment == std::string::npos) return false;
  const size_t mark = text.find("emu: ", comment);
  return mark != std::string::npos && text.find_first_not_of(' ', mark + 5) != std::string::npos;
}

std::string describe(const LineTraffic& line, int64_t moved, int64_t ideal) {
  const bool global = line.memory == LineTraffic::Memory::global;
  char text[256];
  std::snprintf(text, sizeof text, "%s %s %.2f times what it needs: %lld %s where %lld would do, in %lld requests",
                line.store ? "stores to" : "loads from", global ? "global memory move" : "shared memory take",
                static_cast<double>(moved) / static_cast<double>(ideal), static_cast<long long>(moved),
                global ? "sectors" : "passes of the banks", static_cast<long long>(ideal),
                static_cast<long long>(line.requests));
  return line.file + ":" + std::to_string(line.line) + ": " + line.kernel + ": " + text;
}

}  // namespace

std::vector<std::string> wasteful_lines(double limit) {
  std::vector<std::string> texts;
  for (const LineTraffic& line : traffic()) {
    const bool global = line.memory == LineTraffic::Memory::global;
    const int64_t moved = global ? line.sectors : line.wavefronts;
    const int64_t ideal = global ? line.ideal_sectors : line.ideal_wavefronts;
    if (static_cast<double>(moved) <= limit * static_cast<double>(ideal)) continue;
    if (!is_excused(line.file, line.line)) texts.push_back(describe(line, moved, ideal));
  }
  return texts;
}

}  // namespace emu
