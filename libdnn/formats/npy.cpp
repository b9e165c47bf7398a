#include <libdnn/formats/npy.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include <libdnn/formats/atomic_file.h>
#include <libdnn/formats/file_elements.h>
#include <libdnn/formats/first_bytes.h>

namespace dnn {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMaxHeaderBytes = 1 << 16;

constexpr struct {
  std::string_view name;
  DType dtype;
} kTypes[] = {{"<f4", DType::float32}, {"<f8", DType::float64}, {"<f2", DType::float16}, {"<i4", DType::int32},
              {"<i8", DType::int64},   {"|u1", DType::uint8},   {"|b1", DType::boolean}};

struct Header {
  std::string type;
  bool fortran = false;
  std::vector<int64_t> sizes;
};

// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, the keys in any order.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& where) : left_(text), where_(where) {}

  Header read() {
    Header header;
    bool type = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.type = quoted();
        type = true;
      } else if (key == "fortran_order") {
        header.fortran = truth();
        order = true;
      } else if (key == "shape") {
        header.sizes = sizes();
        shape = true;
      } else {
        fail();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!type || !order || !shape || !left_.empty()) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(
        fmt::format("{} has a header that is not of a plain array, {} bytes before its end", where_, left_.size()));
  }
  void skip_space() { left_.remove_prefix(std::min(left_.find_first_not_of(" \n"), left_.size())); }
  bool take(char c) {
    skip_space();
    if (left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  bool take(std::string_view word) {
    skip_space();
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  std::string quoted() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const size_t end = left_.find(quote);
    if (end == std::string_view::npos) fail();
    std::string text(left_.substr(0, end));
    left_.remove_prefix(end + 1);
    return text;
  }
  bool truth() {
    if (take("True")) return true;
    if (!take("False")) fail();
    return false;
  }
  std::vector<int64_t> sizes() {
    std::vector<int64_t> result;
    expect('(');
    while (!take(')')) {
      skip_space();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), size);
      if (error != std::errc()) fail();
      left_.remove_prefix(static_cast<size_t>(end - left_.data()));
      result.push_back(size);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::string_view left_;
  const std::string& where_;
};

// The elements of an array in Fortran order, the first index fastest, in C order.
template <class T>
Tensor from_fortran(const Tensor& from) {
  Tensor to(from.shape(), from.dtype(), "cpu");
  const int dims = from.dims();
  std::vector<int64_t> strides(static_cast<size_t>(dims));
  int64_t stride = 1;
  for (int d = 0; d < dims; ++d) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= from.size(d);
  }
  const T* x = from.data<T>();
  T* y = to.data<T>();
  for (int64_t i = 0; i < from.numel(); ++i) {
    int64_t rest = i, offset = 0;
    for (int d = dims - 1; d >= 0; --d) {
      offset += rest % from.size(d) * strides[static_cast<size_t>(d)];
      rest /= from.size(d);
    }
    y[i] = x[offset];
  }
  return to;
}

Tensor in_c_order(const Tensor& tensor) {
  return with_type(tensor.dtype(), [&]<class T>(T) { return from_fortran<T>(tensor); });
}

}  // namespace

Tensor read_npy(const std::string& path) {
  const std::string where = "[read_npy] " + path;
  first_bytes(path, where);
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const int64_t size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error) throw Error(fmt::format("{} cannot be read: {}", where, error.message()));
  const auto read = [&](void* to, int64_t bytes) {
    if (!file.read(static_cast<char*>(to), bytes)) throw Error(fmt::format("{} is cut", where));
  };

  char magic[kMagic.size()];
  uint8_t version[2], length_bytes[4] = {};
  read(magic, sizeof magic);
  if (std::string_view(magic, sizeof magic) != kMagic) throw Error(fmt::format("{} is no .npy file", where));
  read(version, sizeof version);
  if (version[0] < 1 || version[0] > 3 || version[1] != 0) {
    throw Error(fmt::format("{} is of version {}.{}; known are 1.0, 2.0 and 3.0", where, version[0], version[1]));
  }
  read(length_bytes, version[0] == 1 ? 2 : 4);
  uint32_t length = 0;
  std::memcpy(&length, length_bytes, sizeof length);
  if (length > kMaxHeaderBytes) throw Error(fmt::format("{} has a header of {} bytes", where, length));
  std::string text(length, '\0');
  read(text.data(), length);

  const Header header = HeaderReader(text, where).read();
  const auto* type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.name == header.type; });
  if (type == std::end(kTypes)) {
    throw Error(
        fmt::format("{} holds '{}'; known are '<f4', '<f8', '<f2', '<i4', '<i8', '|u1' and '|b1'", where, header.type));
  }
  const Shape shape = file_shape(header.sizes, where);
  const int64_t bytes = shape.numel() * size_of(type->dtype);
  const int64_t have = size - static_cast<int64_t>(file.tellg());
  if (have != bytes) {
    throw Error(fmt::format("{} needs {} bytes for its shape {} and type; got {}", where, bytes, shape.str(), have));
  }

  const Tensor tensor(shape, type->dtype, "cpu");
  read(tensor.raw_data(), bytes);
  if (type->dtype == DType::boolean) to_truth(tensor);
  return header.fortran ? in_c_order(tensor) : tensor;
}

void write_npy(const std::string& path, const Tensor& tensor) {
  constexpr size_t kAlignment = 64, kBefore = 10;
  const auto* type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return t.dtype == tensor.dtype(); });
  if (type == std::end(kTypes)) {
    throw Error(fmt::format("[write_npy] {}: NumPy has no {}", path, name_of(tensor.dtype())));
  }
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type->name,
                                 fmt::join(tensor.shape(), ", "), tensor.dims() == 1 ? "," : "");
  const size_t whole = (kBefore + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(whole - kBefore - 1, ' ');
  text += '\n';
  const uint16_t length = static_cast<uint16_t>(text.size());

  const Tensor host = on_host(tensor);
  AtomicFile file(path);
  file.write(kMagic.data(), kMagic.size());
  file.write("\x01\x00", 2);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  file.write(host.raw_data(), static_cast<size_t>(host.numel() * size_of(host.dtype())));
  file.commit();
}

}  // namespace dnn
