#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <utility>
#include <vector>

#include <libdnn/cli/command.h>

// The exit code, or a fault where what was printed didn't arrive.
static int check_output(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good()) return code;
  fmt::print(stderr, "dnn: standard output cannot be written: {}\n", std::strerror(errno));
  return dnn::cli::kFault;
}

int main(int argc, char** argv) {
  using namespace dnn::cli;
  try {
    CLI::App app("Trains, tests and measures neural nets.", "dnn");
    app.set_version_flag("--version", dnn::version());
    app.require_subcommand(1);
    std::vector<std::pair<CLI::App*, Command>> commands;
    const auto add = [&](const char* name, const char* description, Command (*add_options)(CLI::App&)) {
      CLI::App* const command = app.add_subcommand(name, description);
      commands.emplace_back(command, add_options(*command));
    };
    add("train", "Train a net and write its log and weights", add_train);
    add("test", "Accuracy and loss of trained weights on the test set", add_test);
    add("classify", "What a trained net sees on pictures", add_classify);
    add("run", "A trained net's output for a tensor in a file", add_run);
    add("summary", "Shapes, parameters, FLOPs and memory of a net, without running it", add_summary);
    add("info", "Version, devices, threads and what was compiled in", add_info);
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
      app.exit(asked);
      return check_output(0);
    } catch (const CLI::RequiredError& error) {
      const bool unknown =
          argc > 1 && argv[1][0] != '-' &&
          std::none_of(commands.begin(), commands.end(), [&](const auto& c) { return c.first->get_name() == argv[1]; });
      fmt::print(stderr, "dnn: {}\n", unknown ? fmt::format("no command '{}'; see dnn --help", argv[1]) : error.what());
      return kWrongArguments;
    } catch (const CLI::ParseError& error) {
      fmt::print(stderr, "dnn: {}\n", error.what());
      return kWrongArguments;
    }
    for (const auto& [command, run] : commands) {
      if (command->parsed()) return check_output(run());
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "dnn: {}\n", error.what());
    return kFault;
  }
}
