#include <fmt/format.h>

#include <libdnn/cli/command.h>

namespace dnn::cli {
namespace {

constexpr size_t kColumns = 79, kTextColumn = 24;

// The text in lines that end before the last column, from `column` on; the first goes on where the cursor is.
std::string wrap(const std::string& text, size_t column) {
  std::string lines;
  size_t used = column;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const size_t word = end - begin;
    if (used > column && used + 1 + word > kColumns) {
      lines += '\n' + std::string(column, ' ');
      used = column;
    }
    lines += (used > column ? " " : "") + text.substr(begin, word);
    used += (used > column ? 1 : 0) + word;
    begin = end + 1;
  }
  return lines;
}

std::string row(const std::string& name, const std::string& text) {
  const bool fits = name.size() + 4 <= kTextColumn;
  return fmt::format("  {:<{}}{}{}\n", name, fits ? kTextColumn - 2 : 0,
                     fits ? "" : '\n' + std::string(kTextColumn, ' '), wrap(text, kTextColumn));
}

// "-h, --help", "--size N N", "PICTURE..."
std::string name_of(const CLI::Option& option) {
  const bool positional = option.get_positional();
  std::string name = positional ? option.get_name(true) : option.get_name(false, true);
  if (const size_t comma = name.find(','); comma != std::string::npos) name.insert(comma + 1, " ");
  const int values = option.get_items_expected_min();  // none of a flag
  for (int i = 0; !positional && i < values; ++i) name += ' ' + option.get_type_name();
  return name + (positional && option.get_items_expected_max() > 1 ? "..." : "");
}

class PlainHelp : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string usage = name, needed;
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_required()) continue;
      (option->get_positional() ? needed : usage) += ' ' + name_of(*option);
    }
    const std::vector<const CLI::App*> commands = app->get_subcommands(std::function<bool(const CLI::App*)>());
    usage += (commands.empty() ? " [OPTIONS]" : " COMMAND [OPTIONS]") + needed;
    std::string text = fmt::format("{}.\n\nUsage: {}\n", wrap(app->get_description(), 0), wrap(usage, 7));
    if (!commands.empty()) text += "\nCommands:\n";
    for (const CLI::App* command : commands) text += row(command->get_name(), command->get_description());
    text += rows(*app, "", [](const CLI::Option* option) { return option->get_positional(); });
    for (const std::string& group : app->get_groups()) {
      text += rows(*app, group, [&](const CLI::Option* option) {
        return option->get_group() == group && !option->get_positional();
      });
    }
    if (!app->get_footer().empty()) text += '\n' + wrap(app->get_footer(), 0) + '\n';
    return text;
  }

 private:
  static std::string rows(const CLI::App& app, const std::string& title,
                          const std::function<bool(const CLI::Option*)>& belongs) {
    std::string text;
    for (const CLI::Option* option : app.get_options(belongs)) {
      if (text.empty()) text = title.empty() ? "\n" : fmt::format("\n{}:\n", title);
      const std::string& given = option->get_default_str();
      text += row(name_of(*option), option->get_description() + (given.empty() ? "" : fmt::format(" [{}]", given)));
    }
    return text;
  }
};

}  // namespace

void set_plain_help(CLI::App& app) {
  app.formatter(std::make_shared<PlainHelp>());
  app.set_help_flag("-h,--help", "show this help");
}

}  // namespace dnn::cli
