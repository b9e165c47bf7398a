#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
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
    CLI::App app("Trains, tests and measures neural nets", "dnn");
    set_plain_help(app);  // the commands take it over
    app.set_version_flag("--version", dnn::version(), "show the version");
    app.require_subcommand(1);
    std::vector<std::pair<CLI::App*, Command>> commands;
    const auto add = [&](const char* name, const char* description, Command (*add_options)(CLI::App&)) {
      CLI::App* const command = app.add_subcommand(name, description);
      commands.emplace_back(command, add_options(*command));
    };
    add("train", "Train a net on MNIST; write its log and weights", add_train);
    add("test", "Accuracy and loss of trained weights on MNIST's test set", add_test);
    add("classify", "The likeliest classes of pictures", add_classify);
    add("run", "A trained net's output for a tensor in a file", add_run);
    add("summary", "Layers, parameters, FLOPs and memory of a net, without running it", add_summary);
    add("info", "Version, devices, threads and what was compiled in", add_info);
    // Now, as commands would take it over.
    app.footer(
        "`dnn COMMAND --help` lists the options of a command. The exit code is 0, 1 for a fault at run time, 2 for "
        "wrong "
        "or no arguments, 130 after Ctrl-C, which finishes the step and saves.");
    if (argc < 2) {
      fmt::print("{}", app.help());
      return check_output(kWrongArguments);
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
      app.exit(asked);
      return check_output(0);
    } catch (const CLI::ParseError& error) {
      fmt::print(stderr, "dnn: {}\n", describe(app, error));
      return kWrongArguments;
    }
    for (const auto& [command, run] : commands) {
      if (command->parsed()) return check_output(run());
    }
    return 0;
  } catch (const WrongArguments& error) {
    fmt::print(stderr, "dnn: {}\n", error.what());
    return kWrongArguments;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "dnn: out of memory\n");
    return kFault;
  } catch (const std::exception& error) {
    fmt::print(stderr, "dnn: {}\n", error.what());
    return kFault;
  }
}
