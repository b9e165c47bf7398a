#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include <libdnn/formats/element_bytes.h>
#include <libdnn/formats/pickle_opcodes.h>
#include <libdnn/formats/printable.h>
#include <libdnn/formats/pth.h>
#include <libdnn/formats/zip_writer.h>

namespace dnn {
namespace {

// A pickle of protocol 2, piece by piece.
class PickleWriter {
 public:
  PickleWriter& operation(uint8_t opcode) {
    bytes_ += static_cast<char>(opcode);
    return *this;
  }

  template <class T>
  PickleWriter& operation(uint8_t opcode, T argument) {
    operation(opcode);
    char raw[sizeof argument];
    std::memcpy(raw, &argument, sizeof argument);
    bytes_.append(raw, sizeof argument);
    return *this;
  }

  PickleWriter& text(std::string_view text) {
    operation(pickle::kBinUnicode, static_cast<uint32_t>(text.size()));
    bytes_ += text;
    return *this;
  }

  PickleWriter& global(std::string_view name) {
    const size_t dot = name.rfind('.');
    operation(pickle::kGlobal);
    bytes_ += fmt::format("{}\n{}\n", name.substr(0, dot), name.substr(dot + 1));
    return *this;
  }

  PickleWriter& number(int64_t value) {
    if (value <= std::numeric_limits<int32_t>::max()) return operation(pickle::kBinInt, static_cast<int32_t>(value));
    operation(pickle::kLong1, uint8_t{sizeof value});
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }

  PickleWriter& tuple(const std::vector<int64_t>& values) {
    operation(pickle::kMark);
    for (const int64_t value : values) number(value);
    return operation(pickle::kTuple);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

void check_names(const std::string& path, const NamedTensors& tensors) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      throw Error(fmt::format("[write_pth] {}: a name is used once; got '{}' again", path, name));
    }
    try {
      (void)nlohmann::json(name).dump();
    } catch (const nlohmann::json::exception&) {
      throw Error(fmt::format("[write_pth] {}: a name is no UTF-8; got '{}'", path, printable(name)));
    }
  }
}

void append_tensor(PickleWriter& out, const Tensor& tensor, const ElementType& type, const std::string& key) {
  const std::vector<int64_t> sizes(tensor.shape().begin(), tensor.shape().end());
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  using namespace pickle;
  out.global("torch._utils._rebuild_tensor_v2").operation(kMark);
  out.operation(kMark).text("storage").global(type.storage).text(key).text("cpu").number(tensor.numel());
  out.operation(kTuple).operation(kBinPersId);
  out.number(0).tuple(sizes).tuple(strides).operation(kNewFalse);                   // offset, no gradient
  out.global("collections.OrderedDict").operation(kEmptyTuple).operation(kReduce);  // no hooks
  out.operation(kTuple).operation(kReduce);
}

}  // namespace

void write_pth(const std::string& path, const NamedTensors& tensors, const std::set<std::string>& as_int64) {
  check_names(path, tensors);
  PickleWriter out;
  out.operation(pickle::kProto, uint8_t{2}).operation(pickle::kEmptyDict).operation(pickle::kMark);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    out.text(name);
    append_tensor(out, tensor, file_type(tensor.dtype(), as_int64.count(name) > 0), std::to_string(i));
  }
  out.operation(pickle::kSetItems).operation(pickle::kStop);

  ZipWriter zip(path);
  const auto add_text = [&](const std::string& name, const std::string& text) {
    zip.add("archive/" + name, text.data(), text.size());
  };
  add_text("data.pkl", out.bytes());
  add_text("byteorder", "little");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    const ElementBytes elements(tensor, file_type(tensor.dtype(), as_int64.count(name) > 0));
    zip.add(fmt::format("archive/data/{}", i), elements.data(), elements.size());
  }
  add_text("version", "3\n");
  zip.commit();
}

}  // namespace dnn
