#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

// A check without words in the help: these stand in the option's description.
CLI::Validator plain_check(std::function<std::string(const std::string&)> fault) {
  return CLI::Validator([fault = std::move(fault)](std::string& text) { return fault(text); }, "");
}

// The value of an option as a number, or nothing where it is none, infinite or NaN.
std::optional<double> finite_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(value)) return {};
  return value;
}

CLI::Validator number_check(const char* what, bool (*f)(double)) {
  return plain_check([=](const std::string& text) -> std::string {
    const std::optional<double> value = finite_number(text);
    return value && f(*value) ? "" : fmt::format("must be {}; got {}", what, text);
  });
}

// 010 is no number here: it is 8 to some readers, 10 to others.
bool is_decimal(std::string text) {
  if (text.starts_with('-')) text.erase(0, 1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && (text == "0" || text[0] != '0');
}

std::string path_fault(const std::string& path, bool file, bool folder) {
  std::error_code fault;
  const std::filesystem::file_status status = std::filesystem::status(path, fault);
  if (!std::filesystem::exists(status)) {
    const char* const what = file && folder ? "file or folder" : file ? "file" : "folder";
    return fault && status.type() != std::filesystem::file_type::not_found
               ? fmt::format("cannot look at {}: {}", path, fault.message())
               : fmt::format("there is no {} {}", what, path);
  }
  if (std::filesystem::is_directory(status)) return folder ? "" : path + " is a folder, not a file";
  return file ? "" : path + " is a file, not a folder";
}

}  // namespace

CLI::Validator positive() {
  return number_check("a number above 0", [](double x) { return x > 0; });
}

CLI::Validator not_negative() {
  return number_check("a number from 0 on", [](double x) { return x >= 0; });
}

CLI::Validator fraction() {
  return number_check("a number from 0 to 1", [](double x) { return x >= 0 && x <= 1; });
}

CLI::Validator whole_number(int64_t least, int64_t most) {
  return plain_check([=](const std::string& text) -> std::string {
    errno = 0;
    const int64_t value = is_decimal(text) ? std::strtoll(text.c_str(), nullptr, 10) : 0;
    const bool beyond = is_decimal(text) && (errno != 0 || value > most) && text[0] != '-';
    if (is_decimal(text) && errno == 0 && value >= least && value <= most) return "";
    if (beyond || (most != INT32_MAX && most != INT64_MAX)) {
      return fmt::format("must be a whole number from {} to {}; got {}", least, most, text);
    }
    return fmt::format("must be a whole number {}; got {}", least == 1 ? "above 0" : fmt::format("from {} on", least),
                       text);
  });
}

CLI::Validator seed_number() {
  return plain_check([](const std::string& text) -> std::string {
    errno = 0;
    const bool good = is_decimal(text) && text[0] != '-';
    if (good && (std::strtoull(text.c_str(), nullptr, 10), errno == 0)) return "";
    return fmt::format("must be a whole number from 0 to 2^64 - 1; got {}", text);
  });
}

CLI::Validator one_of(const std::vector<std::string>& choices) {
  return plain_check([choices](const std::string& text) -> std::string {
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return "";
    return fmt::format("must be {}{}; got {}", choices.size() > 1 ? "one of " : "", first_names(choices, 8), text);
  });
}

CLI::Validator existing_file() {
  return plain_check([](const std::string& path) { return path_fault(path, true, false); });
}

CLI::Validator existing_folder() {
  return plain_check([](const std::string& path) { return path_fault(path, false, true); });
}

CLI::Validator existing_path() {
  return plain_check([](const std::string& path) { return path_fault(path, true, true); });
}

CLI::Validator not_empty() {
  return plain_check([](const std::string& text) { return std::string(text.empty() ? "must not be empty" : ""); });
}

void refuse_useless(const CLI::Option* option, const std::string& when) {
  if (option->count() > 0) throw WrongArguments(fmt::format("{} has no effect {}", option->get_name(), when));
}

}  // namespace dnn::cli
