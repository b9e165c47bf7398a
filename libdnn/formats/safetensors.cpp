#include <libdnn/formats/safetensors.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <system_error>

#include <libdnn/formats/atomic_file.h>

namespace dnn {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian, and copied as they are");

using Json = nlohmann::ordered_json;  // keeps the header's order

constexpr int64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr const char* kMetadataKey = "__metadata__";

struct FileType {
  const char* name;
  int size;
};

// What a file may hold. We compute with four of them; the sizes of the others are needed to check the offsets.
constexpr FileType kFileTypes[] = {{"F32", 4},  {"F64", 8}, {"I32", 4}, {"U8", 1},      {"F16", 2},
                                   {"BF16", 2}, {"I64", 8}, {"I16", 2}, {"I8", 1},      {"BOOL", 1},
                                   {"U16", 2},  {"U32", 4}, {"U64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

const char* file_type(DType type) {
  switch (type) {
    case DType::float64:
      return "F64";
    case DType::int32:
      return "I32";
    case DType::uint8:
      return "U8";
    case DType::float32:
      break;
  }
  return "F32";
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(fmt::format("[safetensors] {}: {}", path, what));
}

// The header's JSON. What the parser would let pass is refused: a key twice in one object, and nesting that the format
// doesn't have.
Json parse_header(const std::string& path, const std::string& text) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > 3) fail(path, "the header is nested too deep");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      fail(path, fmt::format("the header has '{}' twice", value.get<std::string>()));
    }
    return true;
  };
  try {
    Json header = Json::parse(text, watch);
    if (!header.is_object()) fail(path, "the header is no JSON object");
    return header;
  } catch (const Json::exception& error) {
    fail(path, fmt::format("the header is no JSON: {}", error.what()));
  }
}

// Checks one field of the header at a time; `file` and `name` are for the message.
struct EntryReader {
  const std::string& path;
  const std::string& name;
  const Json& info;

  [[noreturn]] void wrong(const std::string& what) const { fail(path, fmt::format("tensor '{}' {}", name, what)); }

  const Json& field(const char* key) const {
    if (!info.is_object() || info.size() != 3 || !info.contains(key)) {
      wrong("is not described by dtype, shape and data_offsets alone");
    }
    return info.at(key);
  }

  int64_t number(const Json& value) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > std::numeric_limits<int64_t>::max()) {
      wrong(fmt::format("has a number that is none; got {}", value.dump()));
    }
    return value.get<int64_t>();
  }

  SafetensorsFile::Entry read(int64_t data_begin, int64_t data_bytes) const {
    SafetensorsFile::Entry entry;
    entry.name = name;
    const Json& dtype = field("dtype");
    const auto type = std::find_if(std::begin(kFileTypes), std::end(kFileTypes), [&](const FileType& t) {
      return dtype.is_string() && dtype.get<std::string>() == t.name;
    });
    if (type == std::end(kFileTypes)) wrong(fmt::format("is of an unknown type; got {}", dtype.dump()));
    entry.type = type->name;

    if (!field("shape").is_array()) wrong("has a shape that is no list");
    int64_t bytes = type->size;
    for (const Json& size : field("shape")) {
      entry.shape.push_back(number(size));
      if (__builtin_mul_overflow(bytes, entry.shape.back(), &bytes)) wrong("has more bytes than can be counted");
    }

    const Json& offsets = field("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2) wrong("has no two data_offsets");
    const int64_t begin = number(offsets[0]), end = number(offsets[1]);
    if (begin > end || end > data_bytes) {
      wrong(fmt::format("lies beyond the file's {} bytes of data; got offsets {} to {}", data_bytes, begin, end));
    }
    if (end - begin != bytes) {
      wrong(fmt::format("needs {} bytes for its shape and type; got offsets {} to {}", bytes, begin, end));
    }
    entry.offset = data_begin + begin;
    entry.bytes = bytes;
    return entry;
  }
};

// The elements of the tensors fill the file: no gap, no overlap, nothing after them.
void check_layout(const std::string& path, const std::vector<SafetensorsFile::Entry>& entries, int64_t begin,
                  int64_t end) {
  std::vector<const SafetensorsFile::Entry*> sorted;
  for (const SafetensorsFile::Entry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  int64_t at = begin;
  for (const SafetensorsFile::Entry* entry : sorted) {
    if (entry->offset != at) {
      fail(path, fmt::format("tensor '{}' {} the one before it", entry->name,
                             entry->offset < at ? "overlaps" : "leaves a gap after"));
    }
    at += entry->bytes;
  }
  if (at != end) fail(path, fmt::format("{} bytes belong to no tensor", end - at));
}

Metadata read_metadata(const std::string& path, const Json& json) {
  if (!json.is_object()) fail(path, "the metadata is no JSON object");
  Metadata metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) fail(path, fmt::format("the metadata's '{}' is no text", key));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) fail(path, std::strerror(errno));
  std::error_code error;
  const uintmax_t file_size = std::filesystem::file_size(path, error);
  if (error) fail(path, error.message());
  const int64_t size = static_cast<int64_t>(file_size);

  uint64_t length = 0;
  if (!file_.read(reinterpret_cast<char*>(&length), sizeof length)) fail(path, "is too short for a header");
  const uint64_t most = static_cast<uint64_t>(std::min(kMaxHeaderBytes, size - int64_t{sizeof length}));
  if (length > most) {
    fail(path, fmt::format("is cut off or no safetensors file: a header of {} bytes in a file of {}", length, size));
  }
  std::string text(length, '\0');
  if (!file_.read(text.data(), static_cast<std::streamsize>(length))) fail(path, "cannot be read");
  if (text.empty() || text[0] != '{') fail(path, "is no safetensors file: its header does not begin with '{'");

  const int64_t data_begin = static_cast<int64_t>(sizeof length + length);
  const Json header = parse_header(path, text);
  for (const auto& [name, info] : header.items()) {
    if (name == kMetadataKey) {
      metadata_ = read_metadata(path, info);
    } else {
      entries_.push_back(EntryReader{path, name, info}.read(data_begin, size - data_begin));
    }
  }
  check_layout(path, entries_, data_begin, size);
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Tensor SafetensorsFile::read(const Entry& entry) {
  const DType types[] = {DType::float32, DType::float64, DType::int32, DType::uint8};
  const auto type =
      std::find_if(std::begin(types), std::end(types), [&](DType t) { return entry.type == file_type(t); });
  if (type == std::end(types)) {
    fail(path_, fmt::format("tensor '{}' is not of type F32, F64, I32 or U8; got {}", entry.name, entry.type));
  }
  std::vector<int> sizes;
  for (const int64_t size : entry.shape) {
    if (size > std::numeric_limits<int>::max()) fail(path_, fmt::format("tensor '{}' is too large", entry.name));
    sizes.push_back(static_cast<int>(size));
  }
  const Tensor tensor(Shape(sizes), *type, "cpu");
  file_.clear();
  file_.seekg(entry.offset);
  if (!file_.read(static_cast<char*>(tensor.raw_data()), entry.bytes)) {
    fail(path_, fmt::format("tensor '{}' cannot be read", entry.name));
  }
  return tensor;
}

NamedTensors SafetensorsFile::read_all() {
  NamedTensors list;
  for (const Entry& entry : entries_) list.push_back({entry.name, read(entry)});
  return list;
}

void write_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  // Elements are stored by falling size, so that all lie on multiples of theirs.
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto element_size = [&](size_t i) { return size_of(tensors[i].tensor.dtype()); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return element_size(a) > element_size(b); });
  std::vector<int64_t> offsets(tensors.size());
  int64_t end = 0;
  for (const size_t i : order) {
    offsets[i] = end;
    end += tensors[i].tensor.numel() * element_size(i);
  }

  Json header = Json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (header.contains(name) || name == kMetadataKey)
      fail(path, fmt::format("a name is used once; got '{}' again", name));
    const std::vector<int> shape(tensor.shape().begin(), tensor.shape().end());
    header[name] = {{"dtype", file_type(tensor.dtype())},
                    {"shape", shape},
                    {"data_offsets", {offsets[i], offsets[i] + tensor.numel() * element_size(i)}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    fail(path, fmt::format("a name or the metadata is no UTF-8: {}", error.what()));
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');

  AtomicFile file(path);
  const uint64_t length = text.size();
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const size_t i : order) {
    const Tensor& tensor = tensors[i].tensor;
    const bool readable = tensor.device().backend().device.host_memory;
    const Tensor host = readable ? tensor : tensor.detach().to("cpu");
    file.write(host.raw_data(), static_cast<size_t>(host.numel() * element_size(i)));
  }
  file.commit();
}

}  // namespace dnn
