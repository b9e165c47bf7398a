#pragma once
#include <string>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// A tensor with its name in a net or a file, "features.3.weight".
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

using NamedTensors = std::vector<NamedTensor>;

}  // namespace dnn
