#pragma once
#include <memory>
#include <string>
#include <vector>

// The command lines of the examples, by CLI11: in a source of its own, for that library takes long to compile.
class CommandLine {
 public:
  explicit CommandLine(const std::string& description);
  ~CommandLine();

  // The value that is there is the default. An int is at least 1, with 0 as its value where the option isn't given; a
  // double is at least 0.
  void add(const std::string& name, std::string& value, const std::string& help,
           const std::vector<std::string>& choices = {});
  void add(const std::string& name, int& value, const std::string& help);
  void add(const std::string& name, double& value, const std::string& help);
  void add_required(const std::string& name, std::string& value, const std::string& help);
  void add_path(const std::string& name, std::string& value, const std::string& help);    // of what exists
  void add_output(const std::string& name, std::string& value, const std::string& help);  // of a file to write
  void add_paths(const std::string& name, std::vector<std::string>& values, const std::string& help);  // no option

  void exclude(const std::string& name, const std::string& other);  // not both may be given

  // Reads the arguments. For --help and for wrong ones, which it says, it ends the program.
  void parse(int argc, char** argv);

 private:
  struct App;
  std::unique_ptr<App> app_;
};
