#include <libdnn/formats/name_list.h>

#include <fmt/format.h>

#include <libdnn/formats/printable.h>

namespace dnn {

std::string first_names(const std::vector<std::string>& names, size_t most) {
  const size_t shown = names.size() <= most + 1 ? names.size() : most;
  std::string list;
  for (size_t i = 0; i < shown; ++i) list += (i > 0 ? ", " : "") + printable(names[i]);
  return shown == names.size() ? list : fmt::format("{} and {} more", list, names.size() - shown);
}

}  // namespace dnn
