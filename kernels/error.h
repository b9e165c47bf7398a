#pragma once
#include <stdexcept>
#include <string>

namespace dnn {

// Every fault the library reports. The message reads "[operation] what; got values"; a module that an error
// passes through on its way up adds its path once: "[conv2d] ...; got ... (in features.3)".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message), message_(message) {}

  const char* what() const noexcept override { return message_.c_str(); }

  void add_path(const std::string& path) {
    if (has_path_ || path.empty()) return;
    message_ += " (in " + path + ")";
    has_path_ = true;
  }

 private:
  std::string message_;
  bool has_path_ = false;
};

}  // namespace dnn
