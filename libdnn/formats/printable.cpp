#include <libdnn/formats/printable.h>

#include <fmt/format.h>

namespace dnn {

std::string printable(std::string_view text) {
  constexpr size_t kMost = 100;
  std::string result;
  for (const char c : text.substr(0, kMost)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > kMost ? result + "..." : result;
}

}  // namespace dnn
