#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include <libdnn/cli/command.h>

int main(int argc, char** argv) {
  using namespace dnn::cli;
  try {
    CLI::App app("Trains, tests and measures neural nets.", "dnn");
    app.set_version_flag("--version", dnn::version());
    app.require_subcommand(1);
    CLI::App* const train = app.add_subcommand("train", "Train a net and write its log and weights");
    CLI::App* const test = app.add_subcommand("test", "Accuracy and loss of trained weights on the test set");
    CLI::App* const run = app.add_subcommand("run", "A trained net's output for a tensor in a file");
    CLI::App* const info = app.add_subcommand("info", "Version, devices, threads and what was compiled in");
    const Command run_train = add_train(*train), run_test = add_test(*test), run_run = add_run(*run);
    const Command run_info = add_info(*info);
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
      return app.exit(asked);
    } catch (const CLI::ParseError& error) {
      fmt::print(stderr, "dnn: {}\n", error.what());
      return kWrongArguments;
    }
    if (train->parsed()) return run_train();
    if (test->parsed()) return run_test();
    if (run->parsed()) return run_run();
    return run_info();
  } catch (const std::exception& error) {
    fmt::print(stderr, "dnn: {}\n", error.what());
    return kFault;
  }
}
