#include <libdnn/formats/tensor_proto.h>

#include <fmt/format.h>
#include <onnx.pb.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include <libdnn/formats/atomic_file.h>
#include <libdnn/formats/file_elements.h>
#include <libdnn/formats/first_bytes.h>
#include <libdnn/formats/npy.h>

namespace dnn {
namespace {

using onnx::TensorProto;

// The elements of one tensor, from the one of the message's fields that holds them.
class ElementReader {
 public:
  ElementReader(const TensorProto& proto, const Shape& shape, const std::string& where)
      : proto_(proto), shape_(shape), where_(where) {}

  Tensor read() const {
    switch (proto_.data_type()) {
      case TensorProto::FLOAT:
        return from(values<float>(proto_.float_data()));
      case TensorProto::DOUBLE:
        return from(values<double>(proto_.double_data()));
      case TensorProto::INT32:
        return from(values<int32_t>(proto_.int32_data()));
      case TensorProto::INT64:
        return from(values<int64_t>(proto_.int64_data()));
      case TensorProto::UINT8:
        return from(values<uint8_t>(proto_.int32_data()));
      case TensorProto::FLOAT16:
        return from_bits(values<uint16_t>(proto_.int32_data()), DType::float16);
      case TensorProto::BFLOAT16:
        return from_bits(values<uint16_t>(proto_.int32_data()), DType::bfloat16);
      case TensorProto::BOOL: {
        const Tensor truth = from_bits(values<uint8_t>(proto_.int32_data()), DType::boolean);
        to_truth(truth);
        return truth;
      }
      default:
        throw Error(
            fmt::format("{} holds ONNX's data type {}; known are FLOAT (1), UINT8 (2), INT32 (6), INT64 (7), "
                        "BOOL (9), FLOAT16 (10), DOUBLE (11) and BFLOAT16 (16)",
                        where_, proto_.data_type()));
    }
  }

 private:
  template <class T, class List>
  std::vector<T> values(const List& list) const {
    const std::string& raw = proto_.raw_data();
    const int64_t numel = shape_.numel(), size = int64_t{sizeof(T)};
    const bool is_raw = proto_.has_raw_data();
    const int64_t have = is_raw ? static_cast<int64_t>(raw.size()) : list.size(), need = is_raw ? numel * size : numel;
    if (have != need) {
      throw Error(fmt::format("{} needs {} {} for its shape {}; got {}", where_, need, is_raw ? "bytes" : "elements",
                              shape_.str(), have));
    }
    std::vector<T> result(static_cast<size_t>(numel));
    if (is_raw) {
      if (numel > 0) std::memcpy(result.data(), raw.data(), raw.size());
      return result;
    }
    std::transform(list.begin(), list.end(), result.begin(), [&](auto value) {
      if constexpr (std::is_unsigned_v<T>) {  // in a field of wider numbers
        if (value < 0 || value > std::numeric_limits<T>::max()) {
          throw Error(fmt::format("{} holds a number beyond its type; got {}", where_, value));
        }
      }
      return static_cast<T>(value);
    });
    return result;
  }

  template <class T>
  Tensor from(const std::vector<T>& list) const {
    return from_vector(list, shape_, "cpu");
  }

  template <class T>
  Tensor from_bits(const std::vector<T>& list, DType dtype) const {
    return from_blob(list.data(), shape_, dtype, "cpu");
  }

  const TensorProto& proto_;
  const Shape& shape_;
  const std::string& where_;
};

TensorProto::DataType type_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return TensorProto::FLOAT;
    case DType::float64:
      return TensorProto::DOUBLE;
    case DType::int32:
      return TensorProto::INT32;
    case DType::float16:
      return TensorProto::FLOAT16;
    case DType::bfloat16:
      return TensorProto::BFLOAT16;
    case DType::int64:
      return TensorProto::INT64;
    case DType::boolean:
      return TensorProto::BOOL;
    case DType::uint8:
      break;
  }
  return TensorProto::UINT8;
}

}  // namespace

NamedTensor read_tensor_proto(const std::string& path) {
  const std::string where = "[read_tensor] " + path;
  first_bytes(path, where);
  std::ifstream file(path, std::ios::binary);
  TensorProto proto;
  if (!proto.ParseFromIstream(&file))
    throw Error(fmt::format("{} is neither a .npy file nor an ONNX TensorProto", where));
  if (proto.data_location() == TensorProto::EXTERNAL)
    throw Error(fmt::format("{} has its elements in another file", where));
  if (proto.has_segment()) throw Error(fmt::format("{} is a part of a tensor", where));
  const Shape shape = file_shape({proto.dims().begin(), proto.dims().end()}, where);
  return {proto.name(), ElementReader(proto, shape, where).read()};
}

void write_tensor_proto(const std::string& path, const Tensor& tensor, const std::string& name) {
  const Tensor host = on_host(tensor);
  const int64_t bytes = host.numel() * size_of(host.dtype());
  constexpr int64_t kMost = std::numeric_limits<int>::max() - (1 << 20);
  if (bytes > kMost)
    throw Error(fmt::format("[write_tensor] {}: a .pb file holds at most {} bytes; got {}", path, kMost, bytes));
  TensorProto proto;
  for (const int size : host.shape()) proto.add_dims(size);
  proto.set_data_type(type_of(host.dtype()));
  proto.set_name(name);
  proto.set_raw_data(host.raw_data(), static_cast<size_t>(bytes));
  const std::string text = proto.SerializeAsString();
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

Tensor read_tensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char begin[6] = {};
  file.read(begin, sizeof begin);
  return std::memcmp(begin, "\x93NUMPY", sizeof begin) == 0 ? read_npy(path) : read_tensor_proto(path).tensor;
}

void write_tensor(const std::string& path, const Tensor& tensor, const std::string& name) {
  if (path.ends_with(".npy")) return write_npy(path, tensor);
  if (path.ends_with(".pb")) return write_tensor_proto(path, tensor, name);
  throw Error(fmt::format("[write_tensor] the name must end in .npy or .pb; got {}", path));
}

}  // namespace dnn
