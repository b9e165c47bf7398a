#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <libdnn/core/named_tensor.h>
#include <libdnn/formats/element_bytes.h>

namespace dnn {

// The dtype of a type in a file: F32, F64, F16, BF16, I32, I64, U8 or BOOL. Nothing for other types.
std::optional<DType> dtype_of_file(std::string_view type);

// A file of named tensors that is open to be read one by one. The constructors read and check what describes the
// tensors; elements are read with read(). Faults throw Error with the file's name.
class TensorFile {
 public:
  struct Entry {
    std::string name;
    std::string type;  // an ElementType's name
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;  // in elements; empty: row-major without gaps
    int64_t storage = 0;           // the part of the file that holds the elements; a safetensors file has one
    int64_t offset = 0;            // of the first element, in bytes, from the beginning of the storage
    bool negated = false;          // the tensor's elements are the negatives of those in the file
  };
  struct Other {
    std::string name;
    std::string what;  // "a number", "argparse.Namespace"
  };

  virtual ~TensorFile() = default;
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }  // in the file's order
  const std::vector<Other>& others() const { return others_; }    // beside the tensors

  const Entry* find(std::string_view name) const;  // null where there is none
  // In host memory, on the device cpu, of the file's type; Error for one that no tensor has. Tensor::to converts.
  Tensor read(const Entry& entry);
  NamedTensors read_all();

 protected:
  // `reader` begins the messages of errors: "safetensors".
  TensorFile(const std::string& path, const char* reader)
      : path_(path), where_("[" + std::string(reader) + "] " + path) {}

  const std::string& where() const { return where_; }
  [[noreturn]] void fail(const std::string& what) const;
  virtual void read_bytes(int64_t storage, int64_t offset, int64_t bytes, void* to) = 0;

  std::vector<Entry> entries_;
  std::vector<Other> others_;

 private:
  std::string path_, where_;
};

}  // namespace dnn
