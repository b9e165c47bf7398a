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

// Floats as those of another float type; other values as they are.
Tensor to_float_type(const Tensor& values, DType type);

// Opens a safetensors file or either form of PyTorch's own, by its content, whatever its name. `checkpoint_key` names
// the tensors in a checkpoint of PyTorch's (PthFile); Error for a safetensors file, which has none.
std::unique_ptr<TensorFile> open_tensor_file(const std::string& path, const std::string& checkpoint_key = "");

// Writes the parameters and buffers of a module in PyTorch's names and order, for load_weights and for PyTorch: a path
// that ends in .pth or .pt as torch.save would, any other as safetensors. Only the latter have metadata; Error for a
// .pth file with some.
void save_weights(const Module& module, const std::string& path, const Metadata& metadata = {});

struct LoadOptions {
  std::string checkpoint_key;  // of the weights in a checkpoint; empty: where PthFile finds them
};

struct LoadReport {
  struct Mismatch {
    std::string name;
    std::vector<int64_t> needed, found;  // shapes, in the file's order
    std::string needed_type, found_type;
  };
  struct Renamed {
    std::string from, to;  // "module.conv.weight" in the file, "conv.weight" in the module
  };
  std::vector<std::string> loaded;
  std::vector<std::string> missing;  // in the module, not in the file: they keep their values
  std::vector<Mismatch> mismatched;  // of another shape or type in the file: they keep their values
  std::vector<std::string> unused;   // tensors in the file, not in the module; under the file's names
  std::vector<std::string> others;   // what is no tensor in the file
  std::vector<Renamed> renamed;      // of those loaded
  std::string checkpoint_key;        // where the file is a checkpoint: the key of its weights
};

// Fills a module from such a file, wherever the module lives. Error where a tensor of the module is missing or of
// another shape or type, and then nothing is changed; tensors that the module lacks are reported, not refused. Floats
// of any type become the module's, int64 its int32 where all fit. The count of batches in batch norms, which old files
// don't have and float16 may be too small for, is never missing. A name in the file that the module lacks also stands
// for the one without "module.", "_orig_mod." and "model.", which DataParallel, torch.compile and the like put before
// names and into them; Error for two names that stand for one tensor.
LoadReport load_weights(const Module& module, const std::string& path, const LoadOptions& options = {});

// The same for the tensors that the file has in the shape and type that the module needs, be it none.
[[nodiscard]] LoadReport load_matching_weights(const Module& module, const std::string& path,
                                               const LoadOptions& options = {});

}  // namespace dnn
