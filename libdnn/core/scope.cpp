#include <libdnn/core/scope.h>

namespace dnn {
namespace {

thread_local const Scope* innermost = nullptr;

}  // namespace

Scope::Scope(std::string_view name) : name_(name), outer_(innermost) { innermost = this; }
Scope::~Scope() { innermost = outer_; }

std::string scope_path() {
  std::string path;
  for (const Scope* scope = innermost; scope; scope = scope->outer_) {
    if (scope->name_.empty()) continue;
    path = path.empty() ? std::string(scope->name_) : std::string(scope->name_) + '.' + path;
  }
  return path;
}

}  // namespace dnn
