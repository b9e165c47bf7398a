#include <libdnn/formats/element_bytes.h>

#include <algorithm>
#include <iterator>

#include <libdnn/formats/file_elements.h>

namespace dnn {
namespace {

// We compute with some of them; the sizes of the others are needed to check the layout of a file.
constexpr ElementType kElementTypes[] = {
    {"F32", 4, "torch.FloatStorage"},
    {"F64", 8, "torch.DoubleStorage"},
    {"I32", 4, "torch.IntStorage"},
    {"U8", 1, "torch.ByteStorage"},
    {"F16", 2, "torch.HalfStorage"},
    {"BF16", 2, "torch.BFloat16Storage"},
    {"I64", 8, "torch.LongStorage"},
    {"I16", 2, "torch.ShortStorage"},
    {"I8", 1, "torch.CharStorage"},
    {"BOOL", 1, "torch.BoolStorage"},
    {"U16", 2, ""},
    {"U32", 4, ""},
    {"U64", 8, ""},
    {"F8_E4M3", 1, ""},
    {"F8_E5M2", 1, ""},
    {"C64", 8, "torch.ComplexFloatStorage"},
    {"C128", 16, "torch.ComplexDoubleStorage"},
};

}  // namespace

const ElementType* element_type(std::string_view name) {
  const auto found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                  [&](const ElementType& type) { return type.name == name; });
  return found == std::end(kElementTypes) ? nullptr : found;
}

const ElementType* element_type_of_storage(std::string_view storage) {
  const auto found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes), [&](const ElementType& type) {
    return !type.storage.empty() && type.storage == storage;
  });
  return found == std::end(kElementTypes) ? nullptr : found;
}

std::vector<std::string_view> storage_names() {
  std::vector<std::string_view> names;
  for (const ElementType& type : kElementTypes) {
    if (!type.storage.empty()) names.push_back(type.storage);
  }
  return names;
}

const ElementType& file_type(DType type, bool as_int64) {
  switch (type) {
    case DType::float64:
      return *element_type("F64");
    case DType::int32:
      return *element_type(as_int64 ? "I64" : "I32");
    case DType::uint8:
      return *element_type("U8");
    case DType::float16:
      return *element_type("F16");
    case DType::bfloat16:
      return *element_type("BF16");
    case DType::int64:
      return *element_type("I64");
    case DType::boolean:
      return *element_type("BOOL");
    case DType::float32:
      break;
  }
  return *element_type("F32");
}

ElementBytes::ElementBytes(const Tensor& tensor, const ElementType& type)
    : host_(on_host(tensor)), data_(host_.raw_data()), size_(static_cast<size_t>(host_.numel() * type.size)) {
  if (type.size == size_of(host_.dtype())) return;
  const int32_t* narrow = host_.data<int32_t>();
  wide_.assign(narrow, narrow + host_.numel());
  data_ = wide_.data();
}

}  // namespace dnn
