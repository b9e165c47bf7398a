#include <libdnn/formats/wrapped_names.h>

#include <algorithm>
#include <cstddef>

namespace dnn {
namespace {

constexpr std::string_view kWrappings[] = {"module", "_orig_mod", "model"};

// Takes the first part off a name, "conv" off "conv.weight".
std::string_view take_part(std::string_view& name) {
  const size_t end = name.find('.');
  const std::string_view part = name.substr(0, end);
  name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
  return part;
}

// Whether a part wraps what comes after it.
bool is_wrapping(std::string_view part, std::string_view rest) {
  for (const std::string_view wrapping : kWrappings) {
    if (part == wrapping) return !rest.empty();
  }
  return false;
}

std::string without_wrappings(std::string_view name) {
  std::string bare;
  while (!name.empty()) {
    const std::string_view part = take_part(name);
    if (is_wrapping(part, name)) continue;
    if (!bare.empty()) bare += '.';
    bare += part;
  }
  return bare;
}

// Whether `name` becomes `inner` by taking off wrappings; without all of them they are the same.
bool wraps(std::string_view name, std::string_view inner) {
  std::string_view wanted = take_part(inner);
  while (!name.empty()) {
    const std::string_view part = take_part(name);
    if (part == wanted) {
      if (inner.empty()) return name.empty();
      wanted = take_part(inner);
    } else if (!is_wrapping(part, name)) {
      return false;
    }
  }
  return false;
}

}  // namespace

WrappedNames::WrappedNames(const NamedTensors& tensors) {
  for (const NamedTensor& tensor : tensors) {
    exact_.emplace(tensor.name, &tensor);
    bare_[without_wrappings(tensor.name)].push_back(&tensor);
  }
}

const NamedTensor* WrappedNames::find(std::string_view name) const {
  if (const auto exact = exact_.find(name); exact != exact_.end()) return exact->second;
  const auto bare = bare_.find(without_wrappings(name));
  if (bare == bare_.end()) return nullptr;
  const NamedTensor* nearest = nullptr;
  std::ptrdiff_t most = -1;  // parts left
  bool alone = true;
  for (const NamedTensor* tensor : bare->second) {
    if (!wraps(name, tensor->name)) continue;
    const std::ptrdiff_t parts = std::count(tensor->name.begin(), tensor->name.end(), '.');
    if (parts < most) continue;
    alone = parts > most;
    most = parts;
    nearest = tensor;
  }
  return alone ? nearest : nullptr;
}

}  // namespace dnn
