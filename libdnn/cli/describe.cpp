#include <fmt/format.h>

#include <algorithm>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

// The first argument that belongs to nothing, options before values: these may be those of the options.
std::string stray_argument(const CLI::App& app) {
  const std::vector<std::string> stray = app.remaining(true);
  const auto option = std::find_if(stray.begin(), stray.end(), [](const std::string& s) { return s.starts_with('-'); });
  return option != stray.end() ? *option : stray.empty() ? "" : stray.front();
}

// The option that an error's text begins with; null where it names none.
const CLI::Option* option_of(const CLI::App& command, const std::string& text) {
  const std::string name = text.substr(0, text.find_first_of(": "));
  const CLI::Option* const option = command.get_option_no_throw(name);
  return option ? option : command.get_option_no_throw("--" + name);
}

std::string describe_count(const CLI::Option& option) {
  const auto wanted = static_cast<size_t>(option.get_items_expected_min());
  const size_t given = option.results().size();
  const std::string name = option.get_name();
  if (option.get_items_expected_max() == 0) return name + " takes no value";
  const std::string needs = wanted == 1 ? name + " needs a value" : fmt::format("{} needs {} values", name, wanted);
  if (given == 0) return needs;
  if (given < wanted) return fmt::format("{}; got {}", needs, given);
  return wanted == 1 ? name + " is given more than once" : fmt::format("{}; got {}", needs, given);
}

}  // namespace

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.front();
  const std::string see = fmt::format("see dnn{} --help", commands.empty() ? "" : ' ' + command.get_name());
  const std::string text = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) || dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const std::string stray = stray_argument(app);
    if (stray.starts_with('-')) return fmt::format("unknown option '{}'; {}", stray, see);
    if (!stray.empty())
      return fmt::format("{} '{}'; {}", commands.empty() ? "no command" : "unexpected argument", stray, see);
    return commands.empty() ? "no command is given; " + see : fmt::format("{}; {}", text, see);
  }
  const CLI::Option* const option = option_of(command, text);
  if (option && dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return describe_count(*option);
  return text;
}

}  // namespace dnn::cli
