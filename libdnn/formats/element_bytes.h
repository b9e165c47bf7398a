#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <libdnn/core/tensor.h>

namespace dnn {

// What the elements of a tensor may be in a file.
struct ElementType {
  std::string_view name;  // as safetensors has it: "F32", "BF16", ...
  int size;
  std::string_view storage;  // of PyTorch: "torch.FloatStorage"; empty where we know none
};
const ElementType* element_type(std::string_view name);  // null where there is none such
const ElementType* element_type_of_storage(std::string_view storage);
std::vector<std::string_view> storage_names();

// Of a tensor of ours; int32 is I64 where the file is to have it `as_int64`.
const ElementType& file_type(DType type, bool as_int64);

// The elements of a tensor, from any device, as a file holds them that has them as file_type() says.
class ElementBytes {
 public:
  ElementBytes(const Tensor& tensor, const ElementType& type);

  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Tensor host_;
  std::vector<int64_t> wide_;
  const void* data_;
  size_t size_;
};

}  // namespace dnn
