#include <libdnn/formats/module_tensors.h>

#include <fmt/format.h>

namespace dnn {
namespace {

void refuse_frozen(const Module& module, const std::string& where, const std::string& path = "") {
  if (module.frozen_to()) {
    throw Error(fmt::format("{}: {} '{}' is frozen for inference; take the net before optimize_for_inference", where,
                            module.type_name(), path));
  }
  for (const Child& child : module.children()) {
    refuse_frozen(*child.module, where, path.empty() ? child.name : path + "." + child.name);
  }
}

}  // namespace

NamedTensors weights_of(const Module& module, const std::string& where) {
  refuse_frozen(module, where);
  NamedTensors tensors = module.named_tensors();
  if (tensors.empty()) {
    throw Error(fmt::format("{}: {} has no tensors; a module has those that it registers, by add() and such", where,
                            module.type_name()));
  }
  return tensors;
}

bool is_convolution(const Tensor& tensor) { return tensor.dims() == 4; }

bool is_batch_count(std::string_view name) {
  constexpr std::string_view kName = "num_batches_tracked";
  return name == kName || (name.ends_with(kName) && name[name.size() - kName.size() - 1] == '.');
}

}  // namespace dnn
