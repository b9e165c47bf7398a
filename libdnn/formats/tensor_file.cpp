#include <libdnn/formats/tensor_file.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <libdnn/formats/file_elements.h>
#include <libdnn/formats/printable.h>

namespace dnn {
namespace {

// As PyTorch has it: integers wrap around.
template <class T>
T negative(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (!std::is_integral_v<T>) {
    return T(-value);
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(Unsigned{0} - static_cast<Unsigned>(value));
  }
}

// The elements that an entry's strides pick, in the tensor's order. Truth values may be any byte in a file.
template <class T>
void gather(const std::vector<std::byte>& raw, const TensorFile::Entry& entry, const Tensor& tensor) {
  const auto element = [&](int64_t at) {
    std::conditional_t<std::is_same_v<T, bool>, uint8_t, T> value;
    std::memcpy(static_cast<void*>(&value), raw.data() + at * static_cast<int64_t>(sizeof value), sizeof value);
    return entry.negated ? negative(static_cast<T>(value)) : static_cast<T>(value);
  };
  T* to = tensor.data<T>();
  if (entry.strides.empty()) {
    for (int64_t i = 0; i < tensor.numel(); ++i) to[i] = element(i);
    return;
  }
  std::vector<int64_t> index(entry.strides.size());
  int64_t at = 0;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    to[i] = element(at);
    for (size_t dim = index.size(); dim-- > 0;) {
      at += entry.strides[dim];
      if (++index[dim] < entry.shape[dim]) break;
      at -= entry.strides[dim] * index[dim];
      index[dim] = 0;
    }
  }
}

// How many elements lie from the first one to the last, where there is one.
int64_t span(const TensorFile::Entry& entry, int64_t numel) {
  if (entry.strides.empty()) return numel;
  int64_t last = 0;
  for (size_t dim = 0; dim < entry.strides.size(); ++dim) last += entry.strides[dim] * (entry.shape[dim] - 1);
  return last + 1;
}

constexpr DType kDTypes[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                             DType::int32,   DType::int64,   DType::uint8,   DType::boolean};

}  // namespace

std::optional<DType> dtype_of_file(std::string_view type) {
  const auto* found = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                   [&](DType dtype) { return file_type(dtype, false).name == type; });
  return found == std::end(kDTypes) ? std::nullopt : std::optional(*found);
}

void TensorFile::fail(const std::string& what) const { throw Error(fmt::format("{}: {}", where_, what)); }

const TensorFile::Entry* TensorFile::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

Tensor TensorFile::read(const Entry& entry) {
  const std::optional<DType> type = dtype_of_file(entry.type);
  if (!type) {
    fail(fmt::format("tensor '{}' is not of type F32, F64, F16, BF16, I32, I64, U8 or BOOL; got {}",
                     printable(entry.name), entry.type));
  }
  const Shape shape = file_shape(entry.shape, fmt::format("{}: tensor '{}'", where_, printable(entry.name)));
  Tensor tensor(shape, *type, "cpu");
  if (tensor.numel() == 0) return tensor;

  const int64_t bytes = span(entry, tensor.numel()) * size_of(*type);
  if (*type != DType::boolean && entry.strides.empty() && !entry.negated) {
    read_bytes(entry.storage, entry.offset, bytes, tensor.raw_data());
    return tensor;
  }
  std::vector<std::byte> raw(static_cast<size_t>(bytes));
  read_bytes(entry.storage, entry.offset, bytes, raw.data());
  with_type(*type, [&]<class T>(T) { gather<T>(raw, entry, tensor); });
  return tensor;
}

NamedTensors TensorFile::read_all() {
  NamedTensors list;
  for (const Entry& entry : entries_) list.push_back({entry.name, read(entry)});
  return list;
}

}  // namespace dnn
