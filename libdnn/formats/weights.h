#pragma once
#include <string>
#include <vector>

#include <libdnn/formats/safetensors.h>
#include <libdnn/layers/module.h>

namespace dnn {

// Files have the world's order and memory has ours: a convolution's weight is (K, C, R, S) in every file and
// (K, R, S, C) in every tensor. The two ways through the one place where this is converted; four dimensions, floats.
Tensor kcrs_to_krsc(const Tensor& weight);
Tensor krsc_to_kcrs(const Tensor& weight);

// Writes the parameters and buffers of a module as a safetensors file in PyTorch's names and order, for load_weights
// and for `safetensors.torch.load_file`.
void save_weights(const Module& module, const std::string& path, const Metadata& metadata = {});

struct LoadReport {
  std::vector<std::string> loaded;
  std::vector<std::string> unused;   // in the file, not in the module
  std::vector<std::string> missing;  // in the module, not in the file: they keep their values
};

// Fills a module from such a file, wherever the module lives. A shape or type that doesn't fit throws Error with the
// layer's name and both shapes, and then nothing is changed.
LoadReport load_weights(const Module& module, const std::string& path);

}  // namespace dnn
