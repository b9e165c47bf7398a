#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <libdnn/formats/pth.h>
#include <libdnn/formats/safetensors.h>
#include <libdnn/layers/module.h>

namespace dnn {

// Files have the world's order and memory has ours: a convolution's weight is (K, C, R, S) in every file and
// (K, R, S, C) in every tensor. The two ways through the one place where this is converted; four dimensions, floats.
Tensor kcrs_to_krsc(const Tensor& weight);
Tensor krsc_to_kcrs(const Tensor& weight);

// The values as float32 where they are float64 and that is wanted, or the other way; else the tensor itself.
Tensor to_float_type(const Tensor& values, DType type);

// Opens a safetensors file or either form of PyTorch's own, by its content, whatever its name.
std::unique_ptr<TensorFile> open_tensor_file(const std::string& path);

// Writes the parameters and buffers of a module in PyTorch's names and order, for load_weights and for PyTorch: a path
// that ends in .pth or .pt as torch.save would, any other as safetensors. Only the latter have metadata; Error for a
// .pth file with some.
void save_weights(const Module& module, const std::string& path, const Metadata& metadata = {});

struct LoadOptions {
  bool partial = false;  // skip tensors whose shape doesn't fit, as for another number of classes, and report them
};

struct LoadReport {
  struct Mismatch {
    std::string name;
    std::vector<int64_t> needed, found;  // shapes, in the file's order
  };
  std::vector<std::string> loaded;
  std::vector<std::string> unused;   // in the file, not in the module; under the file's names
  std::vector<std::string> missing;  // in the module, not in the file: they keep their values
  std::vector<Mismatch> mismatched;  // with partial only: they keep their values
  std::string prefix;                // "module." where all names in the file began with it, which was taken off
};

// Fills a module from such a file, wherever the module lives. A shape or type that doesn't fit throws Error with the
// layer's name and both shapes, and then nothing is changed; float64 is rounded where the module has float32. The count
// of batches in batch norms, which old files don't have, is never missing.
LoadReport load_weights(const Module& module, const std::string& path, const LoadOptions& options = {});

}  // namespace dnn
