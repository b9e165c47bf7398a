#include <libdnn/core/scope.h>

#include <vector>

namespace dnn {
namespace {

thread_local std::vector<std::string_view> names;

}  // namespace

Scope::Scope(std::string_view name) { names.push_back(name); }
Scope::~Scope() { names.pop_back(); }

std::string scope_path() {
  std::string path;
  for (const std::string_view name : names) {
    if (!path.empty() && !name.empty()) path += '.';
    path += name;
  }
  return path;
}

}  // namespace dnn
