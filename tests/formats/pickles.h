#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <libdnn/formats/zip_writer.h>

namespace dnn::pickles {

// Pickles of protocol 2 by hand: pieces that are put together with +.
inline std::string number(uint64_t value, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(value >> (8 * i));
  return text;
}

inline std::string text(const std::string& s) { return "X" + number(s.size(), 4) + s; }
inline std::string integer(int64_t value) { return "\x8a\x08" + number(static_cast<uint64_t>(value), 8); }
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

inline std::string tuple(const std::vector<int64_t>& values) {
  std::string s = "(";
  for (const int64_t value : values) s += integer(value);
  return s + "t";
}

inline std::string whole(const std::string& object) { return "\x80\x02" + object + "."; }

struct View {
  std::string storage = "FloatStorage", key = "0";
  int64_t numel = 6;  // of the storage
  int64_t offset = 0;
  std::vector<int64_t> sizes{2, 3}, strides{3, 1};
  std::string metadata = "";  // a pickled value: the last argument, where there is one
};

inline std::string tensor(const View& v) {
  return global("torch._utils", "_rebuild_tensor_v2") + "((" + text("storage") + global("torch", v.storage) +
         text(v.key) + text("cpu") + integer(v.numel) + "tQ" + integer(v.offset) + tuple(v.sizes) + tuple(v.strides) +
         "\x89" + global("collections", "OrderedDict") + ")R" + v.metadata + "tR";
}

inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string s = "}(";
  for (const auto& [key, value] : items) s += text(key) + value;
  return s + "u";
}

// A .pth file with this data.pkl, and storages by key.
inline void write_zip(const std::string& path, const std::string& pickle,
                      const std::vector<std::pair<std::string, std::string>>& storages,
                      const std::string& byteorder = "little") {
  ZipWriter zip(path);
  zip.add("x/data.pkl", pickle.data(), pickle.size());
  zip.add("x/byteorder", byteorder.data(), byteorder.size());
  for (const auto& [key, bytes] : storages) zip.add("x/data/" + key, bytes.data(), bytes.size());
  zip.commit();
}

// The form before PyTorch 1.6, with this object and the storages' elements.
inline std::string legacy(const std::string& object, const std::vector<std::pair<std::string, std::string>>& storages,
                          int64_t numel) {
  std::string keys = "](", elements;
  for (const auto& [key, bytes] : storages) {
    keys += text(key);
    elements += number(static_cast<uint64_t>(numel), 8) + bytes;
  }
  const std::string magic("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12);
  return whole(magic) + whole("M\xe9\x03") + whole(dict({{"little_endian", "\x88"}})) + whole(object) +
         whole(keys + "e") + elements;
}

}  // namespace dnn::pickles
