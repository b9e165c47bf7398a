#pragma once
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <libdnn/formats/tensor_file.h>

namespace dnn {

// The safetensors format (github.com/huggingface/safetensors, "Format"): the length of the header in 8 bytes, the
// header in JSON, the elements of all tensors without gaps, all little-endian. Faults throw Error with the file's name.
using Metadata = std::map<std::string, std::string>;

// Tensors appear in the header in the given order. int32 tensors whose names are in `as_int64` are written as I64. The
// file appears whole or not at all (formats/atomic_file.h).
void write_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {},
                       const std::set<std::string>& as_int64 = {});

// A file that is open to be read. The constructor reads and checks the header whole: nothing is allocated for a number
// in it before that number was found to fit the file.
class SafetensorsFile : public TensorFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const Metadata& metadata() const { return metadata_; }

 private:
  void read_bytes(int64_t storage, int64_t offset, int64_t bytes, void* to) override;

  std::ifstream file_;
  Metadata metadata_;
};

}  // namespace dnn
