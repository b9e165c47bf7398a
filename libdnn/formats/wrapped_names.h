#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <libdnn/core/named_tensor.h>

namespace dnn {

// The tensors of a module by their names in a file, which may be those of a module around it or have modules around
// parts of it: "module." of DataParallel, "_orig_mod." of torch.compile, "model." of training frameworks. These parts
// of a name, wherever they stand and how often, are taken off where the module has no such name: all or as few as it
// takes to meet one.
class WrappedNames {
 public:
  explicit WrappedNames(const NamedTensors& tensors);  // which must outlive it

  const NamedTensor* find(std::string_view name) const;  // null where there is none, or two are as near

 private:
  std::map<std::string_view, const NamedTensor*> exact_;
  std::map<std::string, std::vector<const NamedTensor*>, std::less<>> bare_;  // by the name without all such parts
};

}  // namespace dnn
