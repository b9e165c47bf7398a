#include <libdnn/formats/tensor_file.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <libdnn/formats/file_elements.h>
#include <libdnn/formats/printable.h>

namespace dnn {
namespace {

// IEEE 754 binary16: sign, 5 bits of exponent with bias 15, 10 bits of fraction.
float from_half(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, fraction = bits & 0x3ffu;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {  // a multiple of 2^-24, which is exact
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

float from_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// As PyTorch has it: integers wrap around.
template <class T>
T negative(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return -value;
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(Unsigned{0} - static_cast<Unsigned>(value));
  }
}

// The elements that an entry's strides pick, in the tensor's order.
template <class From, class To, class Convert>
void gather(const std::vector<std::byte>& raw, const TensorFile::Entry& entry, const Tensor& tensor, Convert convert) {
  const auto element = [&](int64_t at) {
    From value;
    std::memcpy(&value, raw.data() + at * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  };
  To* to = tensor.data<To>();
  if (entry.strides.empty()) {
    for (int64_t i = 0; i < tensor.numel(); ++i) to[i] = convert(element(i));
    return;
  }
  std::vector<int64_t> index(entry.strides.size());
  int64_t at = 0;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    to[i] = convert(element(at));
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

struct MemoryType {
  std::string_view type;
  DType dtype;
  bool same;  // bit for bit what it is in the file
};
constexpr MemoryType kMemoryTypes[] = {
    {"F32", DType::float32, true}, {"F64", DType::float64, true},  {"I32", DType::int32, true},
    {"U8", DType::uint8, true},    {"F16", DType::float32, false}, {"BF16", DType::float32, false},
    {"I64", DType::int32, false},  {"BOOL", DType::uint8, false},
};

const MemoryType* find_memory_type(std::string_view type) {
  const auto found = std::find_if(std::begin(kMemoryTypes), std::end(kMemoryTypes),
                                  [&](const MemoryType& t) { return t.type == type; });
  return found == std::end(kMemoryTypes) ? nullptr : found;
}

}  // namespace

std::optional<DType> memory_type(std::string_view type) {
  const MemoryType* found = find_memory_type(type);
  return found ? std::optional(found->dtype) : std::nullopt;
}

void TensorFile::fail(const std::string& what) const { throw Error(fmt::format("{}: {}", where_, what)); }

const TensorFile::Entry* TensorFile::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

Tensor TensorFile::read(const Entry& entry) {
  const MemoryType* type = find_memory_type(entry.type);
  if (!type) {
    fail(fmt::format("tensor '{}' is not of type F32, F64, F16, BF16, I32, I64, U8 or BOOL; got {}",
                     printable(entry.name), entry.type));
  }
  const Shape shape = file_shape(entry.shape, fmt::format("{}: tensor '{}'", where_, printable(entry.name)));
  Tensor tensor(shape, type->dtype, "cpu");
  if (tensor.numel() == 0) return tensor;

  const int64_t bytes = span(entry, tensor.numel()) * element_type(entry.type)->size;
  if (type->same && entry.strides.empty() && !entry.negated) {
    read_bytes(entry.storage, entry.offset, bytes, tensor.raw_data());
    return tensor;
  }
  std::vector<std::byte> raw(static_cast<size_t>(bytes));
  read_bytes(entry.storage, entry.offset, bytes, raw.data());

  const auto value = [&](auto x) { return entry.negated ? negative(x) : x; };
  const auto narrow = [&](int64_t x) {
    const int64_t wide = value(x);
    if (wide != static_cast<int32_t>(wide)) {
      fail(fmt::format("tensor '{}' has a value beyond 32 bits; got {}", printable(entry.name), wide));
    }
    return static_cast<int32_t>(wide);
  };
  const auto truth = [](uint8_t x) { return static_cast<uint8_t>(x != 0); };
  if (entry.type == "F32") gather<float, float>(raw, entry, tensor, value);
  if (entry.type == "F64") gather<double, double>(raw, entry, tensor, value);
  if (entry.type == "I32") gather<int32_t, int32_t>(raw, entry, tensor, value);
  if (entry.type == "U8") gather<uint8_t, uint8_t>(raw, entry, tensor, value);
  if (entry.type == "F16") gather<uint16_t, float>(raw, entry, tensor, [&](uint16_t x) { return value(from_half(x)); });
  if (entry.type == "BF16") {
    gather<uint16_t, float>(raw, entry, tensor, [&](uint16_t x) { return value(from_bfloat16(x)); });
  }
  if (entry.type == "I64") gather<int64_t, int32_t>(raw, entry, tensor, narrow);
  if (entry.type == "BOOL") gather<uint8_t, uint8_t>(raw, entry, tensor, truth);
  return tensor;
}

NamedTensors TensorFile::read_all() {
  NamedTensors list;
  for (const Entry& entry : entries_) list.push_back({entry.name, read(entry)});
  return list;
}

}  // namespace dnn
