#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <libdnn/dnn.h>

// What the subcommands of `dnn` share. A subcommand adds its options to the app and leaves what is to be done in a
// callback that returns the exit code.
namespace dnn::cli {

using Command = std::function<int()>;

Command add_train(CLI::App& app);
Command add_test(CLI::App& app);
Command add_classify(CLI::App& app);
Command add_run(CLI::App& app);
Command add_info(CLI::App& app);
Command add_summary(CLI::App& app);

// Exit codes: 0, and
constexpr int kFault = 1;           // a fault at run time
constexpr int kWrongArguments = 2;  // and none at all
constexpr int kInterrupted = 130;   // Ctrl-C: the step was finished and its results saved

// --device and --threads; apply() makes them the program's defaults.
struct MachineOptions {
  std::string device = "cpu";
  int threads = num_threads();

  void add(CLI::App& app);
  void apply() const;
};

void add_model_option(CLI::App& app, std::string& model);                  // --model, one of the zoo
void add_mnist_model_option(CLI::App& app, std::string& model);            // one of those for pictures as MNIST's
void add_json_option(CLI::App& app, std::string& path, const char* what);  // --json; refused where it can't be written

// Arguments that do not go together: what() is the message, the exit code kWrongArguments.
struct WrongArguments : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws WrongArguments where the option was given: "--lr-gamma has no effect WHEN".
void refuse_useless(const CLI::Option* option, const std::string& when);

// Checks of one value. Numbers are finite.
CLI::Validator positive();
CLI::Validator not_negative();
CLI::Validator fraction();                                             // from 0 to 1
CLI::Validator whole_number(int64_t least, int64_t most = INT32_MAX);  // in decimal, without leading zeros
CLI::Validator seed_number();                                          // as uint64 holds
CLI::Validator one_of(const std::vector<std::string>& choices);
CLI::Validator existing_file();
CLI::Validator existing_folder();
CLI::Validator existing_path();
CLI::Validator writable_file();  // one that can be made or replaced
CLI::Validator not_empty();

// What --help prints, within 80 columns.
void set_plain_help(CLI::App& app);
// What is wrong with the arguments that `app` refused.
std::string describe(const CLI::App& app, const CLI::ParseError& error);

// The path of a file that comes with the program: in share/dnn beside it in a folder of a build, in the installed one
// else. Empty where there is none.
std::string find_data_file(const std::string& name);

// --weights and --checkpoint-key.
struct WeightsOptions {
  std::string path, checkpoint_key;

  void add(CLI::App& app, const char* what);
};

// A net of the zoo with the weights of a file, ready to be asked. Error where the file lacks a tensor of the net or has
// others, the latter beginning with `command`.
std::shared_ptr<Module> load_net(const char* command, const std::string& model, const WeightsOptions& weights,
                                 int classes);

// Writes a result for other programs to read, whole or not at all, text that isn't UTF-8 with replacements; does
// nothing where the path is empty.
void write_json(const std::string& path, const nlohmann::ordered_json& result);

// From the first call on, Ctrl-C no longer ends the program but makes interrupted() true; a second one ends it.
void catch_interrupt();
bool interrupted();

}  // namespace dnn::cli
