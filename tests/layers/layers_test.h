#pragma once
#include <string>
#include <vector>

#include <libdnn/layers/module.h>

#include "../default_device.h"
#include "../difference.h"

// What the tests of layers share.
namespace dnn::test {

using Names = std::vector<std::string>;

inline Names names_and_shapes(const Module& module) {
  Names result;
  for (const NamedTensor& p : module.named_parameters()) result.push_back(p.name + p.tensor.shape().str());
  return result;
}

inline void set(const Module& module, const std::string& name, const std::vector<float>& values) {
  const Tensor& parameter = module.parameter(name);
  parameter.copy_from(tensor(values, parameter.shape(), parameter.device()));
}

}  // namespace dnn::test
