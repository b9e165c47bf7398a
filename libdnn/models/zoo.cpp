#include <libdnn/models/zoo.h>

#include <fmt/format.h>

#include <libdnn/models/lenet.h>
#include <libdnn/models/mnist_cnn.h>

namespace dnn {
namespace {

template <auto make>
std::shared_ptr<Module> shared(int classes) {
  return std::make_shared<decltype(make(classes))>(make(classes));
}

}  // namespace

const std::vector<ZooEntry>& zoo() {
  static const std::vector<ZooEntry> entries{
      {"mnist_cnn", shared<mnist_cnn>, 28, 28, 1, 10},
      {"lenet", shared<lenet>, 28, 28, 1, 10},
  };
  return entries;
}

const ZooEntry& zoo_entry(const std::string& name) {
  std::string names;
  for (const ZooEntry& entry : zoo()) {
    if (entry.name == name) return entry;
    names += names.empty() ? entry.name : fmt::format(", {}", entry.name);
  }
  throw Error(fmt::format("[zoo] there is {}; got '{}'", names, name));
}

}  // namespace dnn
