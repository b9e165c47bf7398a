#pragma once
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <libdnn/core/named_tensor.h>

namespace dnn {

// The safetensors format (github.com/huggingface/safetensors, "Format"): the length of the header in 8 bytes, the
// header in JSON, the elements of all tensors without gaps, all little-endian. Faults throw Error with the file's name.
using Metadata = std::map<std::string, std::string>;

// Tensors appear in the header in the given order. The file appears whole or not at all (formats/atomic_file.h).
void write_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});

// A file that is open to be read. The constructor reads and checks the header whole: nothing is allocated for a number
// in it before that number was found to fit the file.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  struct Entry {
    std::string name;
    std::string type;  // as the file says it: "F32"
    std::vector<int64_t> shape;
    int64_t offset = 0;  // from the beginning of the file
    int64_t bytes = 0;
  };

  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }  // in the header's order
  const Metadata& metadata() const { return metadata_; }

  const Entry* find(const std::string& name) const;  // null where there is none
  // In host memory, on the device cpu. Types F32, F64, I32 and U8; Error for others.
  Tensor read(const Entry& entry);
  NamedTensors read_all();

 private:
  std::string path_;
  std::ifstream file_;
  std::vector<Entry> entries_;
  Metadata metadata_;
};

}  // namespace dnn
