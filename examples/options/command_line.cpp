#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

#include <libdnn/dnn.h>

#include "command_line.h"

struct CommandLine::App : CLI::App {
  using CLI::App::App;
};

CommandLine::CommandLine(const std::string& description) : app_(std::make_unique<App>(description)) {}
CommandLine::~CommandLine() = default;

void CommandLine::add(const std::string& name, std::string& value, const std::string& help,
                      const std::vector<std::string>& choices) {
  CLI::Option* const option = app_->add_option(name, value, help);
  if (!value.empty()) option->capture_default_str();
  if (!choices.empty()) option->check(CLI::IsMember(choices));
}

void CommandLine::add(const std::string& name, int& value, const std::string& help) {
  CLI::Option* const option = app_->add_option(name, value, help)->check(CLI::Range(1, 1 << 30));
  if (value != 0) option->capture_default_str();
}

void CommandLine::add(const std::string& name, double& value, const std::string& help) {
  app_->add_option(name, value, help)->capture_default_str()->check(CLI::Range(0.0, 1e30));
}

void CommandLine::add_required(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->required();
}

void CommandLine::add_path(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->check(CLI::ExistingPath);
}

void CommandLine::add_paths(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  app_->add_option(name, values, help)->required()->check(CLI::ExistingPath);
}

void CommandLine::add_output(const std::string& name, std::string& value, const std::string& help) {
  const auto fault = [](const std::string& path) -> std::string {
    if (std::filesystem::is_directory(path)) return path + " is a folder";
    try {
      const dnn::AtomicFile file(path);  // goes away again
      return "";
    } catch (const dnn::Error& error) {
      return error.what();
    }
  };
  app_->add_option(name, value, help)->check(CLI::Validator(fault, ""));
}

void CommandLine::exclude(const std::string& name, const std::string& other) {
  app_->get_option(name)->excludes(app_->get_option(other));
}

void CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app_->exit(error) == 0 ? 0 : 2);
  }
}
