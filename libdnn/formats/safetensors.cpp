#include <libdnn/formats/safetensors.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <system_error>

#include <libdnn/core/counted.h>
#include <libdnn/formats/atomic_file.h>
#include <libdnn/formats/element_bytes.h>
#include <libdnn/formats/first_bytes.h>
#include <libdnn/formats/printable.h>

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;  // keeps the header's order

constexpr int64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr const char* kMetadataKey = "__metadata__";

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
  } catch (const Json::parse_error& error) {
    fail(path, fmt::format("the header is no JSON, from its byte {} on", error.byte));
  } catch (const Json::exception&) {
    fail(path, "the header has a number that is too large");
  }
}

// Where the elements of a tensor lie in the file.
struct Place {
  int64_t offset, bytes;
  std::string name;
};

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
      wrong(fmt::format("has a number that is none; got {}", printable(value.dump())));
    }
    return value.get<int64_t>();
  }

  // Appends the place of the elements to `places`.
  TensorFile::Entry read(int64_t data_begin, int64_t data_bytes, std::vector<Place>& places) const {
    TensorFile::Entry entry;
    entry.name = name;
    const Json& dtype = field("dtype");
    const ElementType* type = dtype.is_string() ? element_type(dtype.get<std::string>()) : nullptr;
    if (!type) wrong(fmt::format("is of an unknown type; got {}", printable(dtype.dump())));
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
    places.push_back({entry.offset, bytes, name});
    return entry;
  }
};

// The elements of the tensors fill the file: no gap, no overlap, nothing after them.
void check_layout(const std::string& path, std::vector<Place> places, int64_t begin, int64_t end) {
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes); });
  int64_t at = begin;
  for (const Place& place : places) {
    if (place.offset != at) {
      fail(path, fmt::format("tensor '{}' {} the one before it", place.name,
                             place.offset < at ? "overlaps" : "leaves a gap after"));
    }
    at += place.bytes;
  }
  if (at != end) fail(path, counted(end - at, "byte belongs", "bytes belong") + " to no tensor");
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

SafetensorsFile::SafetensorsFile(const std::string& path)
    : TensorFile(path, "safetensors"), file_(path, std::ios::binary) {
  first_bytes(path, where());
  std::error_code error;
  const uintmax_t file_size = std::filesystem::file_size(path, error);
  if (error) fail(error.message());
  const int64_t size = static_cast<int64_t>(file_size);

  uint64_t length = 0;
  if (!file_.read(reinterpret_cast<char*>(&length), sizeof length)) fail("is too short for a header");
  const uint64_t most = static_cast<uint64_t>(std::min(kMaxHeaderBytes, size - int64_t{sizeof length}));
  if (length > most) {
    fail(fmt::format("is cut off or no safetensors file: a header of {} bytes in a file of {}", length, size));
  }
  std::string text(length, '\0');
  if (!file_.read(text.data(), static_cast<std::streamsize>(length))) fail("cannot be read");
  if (text.empty() || text[0] != '{') fail("is no safetensors file: its header does not begin with '{'");

  const int64_t data_begin = static_cast<int64_t>(sizeof length + length);
  const Json header = parse_header(path, text);
  std::vector<Place> places;
  for (const auto& [name, info] : header.items()) {
    if (name == kMetadataKey) {
      metadata_ = read_metadata(path, info);
    } else {
      entries_.push_back(EntryReader{path, name, info}.read(data_begin, size - data_begin, places));
    }
  }
  check_layout(path, std::move(places), data_begin, size);
}

void SafetensorsFile::read_bytes(int64_t /*storage*/, int64_t offset, int64_t bytes, void* to) {
  file_.clear();
  file_.seekg(offset);
  if (!file_.read(static_cast<char*>(to), bytes)) fail("cannot be read to its end");
}

void write_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata,
                       const std::set<std::string>& as_int64) {
  // Elements are stored by falling size, so that all lie on multiples of theirs.
  std::vector<ElementType> types;
  for (const auto& [name, tensor] : tensors) types.push_back(file_type(tensor.dtype(), as_int64.count(name) > 0));
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return types[a].size > types[b].size; });
  std::vector<int64_t> offsets(tensors.size());
  int64_t end = 0;
  for (const size_t i : order) {
    offsets[i] = end;
    end += tensors[i].tensor.numel() * types[i].size;
  }

  Json header = Json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (header.contains(name) || name == kMetadataKey)
      fail(path, fmt::format("a name is used once; got '{}' again", name));
    const std::vector<int> shape(tensor.shape().begin(), tensor.shape().end());
    header[name] = {{"dtype", types[i].name},
                    {"shape", shape},
                    {"data_offsets", {offsets[i], offsets[i] + tensor.numel() * types[i].size}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) {
    fail(path, "a name or the metadata is no UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');

  AtomicFile file(path);
  const uint64_t length = text.size();
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const size_t i : order) {
    const ElementBytes elements(tensors[i].tensor, types[i]);
    file.write(elements.data(), elements.size());
  }
  file.commit();
}

}  // namespace dnn
