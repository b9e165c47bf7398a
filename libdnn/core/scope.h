#pragma once
#include <string>
#include <string_view>

namespace dnn {

// Marks that the calling thread is inside the module of this name, until it ends. The name must live as long.
class Scope {
 public:
  explicit Scope(std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  friend std::string scope_path();

  std::string_view name_;
  const Scope* outer_;
};

// The names of the modules that the calling thread is inside, from the outermost: "features.3". Modules without a name
// leave no trace; "" outside of all.
std::string scope_path();

}  // namespace dnn
