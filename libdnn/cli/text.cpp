#include <fmt/format.h>
#include <fmt/ranges.h>

#include <libdnn/cli/command.h>

namespace dnn::cli {

std::string short_list(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10, kShown = 8;
  if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, ... and {} more", fmt::join(names.begin(), names.begin() + kShown, ", "),
                     names.size() - kShown);
}

std::string counted(int64_t count, const std::string& noun) { return counted(count, noun, noun + "s"); }

std::string counted(int64_t count, const std::string& singular, const std::string& plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

}  // namespace dnn::cli
