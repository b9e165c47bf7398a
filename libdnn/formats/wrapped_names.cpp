#include <libdnn/formats/wrapped_names.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace dnn {
namespace {

constexpr std::string_view kWrappings[] = {"module", "_orig_mod", "model"};

// The parts of a name between its dots, one after the other.
class Parts {
 public:
  explicit Parts(std::string_view name) : rest_(name) {}

  bool at_end() const { return at_end_; }  // after the last one
  std::string_view next() {
    const size_t dot = rest_.find('.');
    const std::string_view part = rest_.substr(0, dot);
    at_end_ = dot == std::string_view::npos;
    if (!at_end_) rest_.remove_prefix(dot + 1);
    return part;
  }

 private:
  std::string_view rest_;
  bool at_end_ = false;
};

// Whether a part wraps what comes after it.
bool is_wrapping(std::string_view part, const Parts& rest) {
  return !rest.at_end() && std::find(std::begin(kWrappings), std::end(kWrappings), part) != std::end(kWrappings);
}

std::string without_wrappings(std::string_view name) {
  std::string bare;
  for (Parts parts(name); !parts.at_end();) {
    const std::string_view part = parts.next();
    if (is_wrapping(part, parts)) continue;
    bare += part;
    if (!parts.at_end()) bare += '.';
  }
  return bare;
}

// Whether `name` becomes `inner` by taking off wrappings; without all of them they are the same.
bool wraps(std::string_view name, std::string_view inner) {
  Parts parts(name), wanted(inner);
  std::string_view next = wanted.next();
  while (!parts.at_end()) {
    const std::string_view part = parts.next();
    if (part == next && wanted.at_end() == parts.at_end()) {
      if (parts.at_end()) return true;
      next = wanted.next();
    } else if (!is_wrapping(part, parts)) {
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
