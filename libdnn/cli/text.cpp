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

}  // namespace dnn::cli
