#include <libdnn/formats/pth.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <system_error>

#include <libdnn/formats/first_bytes.h>
#include <libdnn/formats/pickle.h>
#include <libdnn/formats/printable.h>
#include <libdnn/formats/state_dict.h>
#include <libdnn/formats/zip_reader.h>

namespace dnn {
namespace {

constexpr int64_t kMaxPickleBytes = int64_t{16} << 20;  // a tensor takes about 200 bytes of it
constexpr int64_t kMaxRatio = 16;                       // of the bytes of all tensors to the file's: views may overlap

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(fmt::format("{}: {}", where, what));
}

}  // namespace

// The two forms of a .pth file.
class PthStorages {
 public:
  virtual ~PthStorages() = default;
  virtual StateDict read_state_dict(const std::string& checkpoint_key) = 0;
  virtual int64_t deflated_bytes() const { return 0; }
  virtual void read(int64_t storage, int64_t offset, int64_t bytes, void* to) = 0;
};

namespace {

// PREFIX/data.pkl, PREFIX/byteorder, and a storage in each PREFIX/data/KEY.
class ZipStorages : public PthStorages {
 public:
  ZipStorages(const std::string& path, const std::string& where) : where_(where), zip_(path, where) {}

  StateDict read_state_dict(const std::string& checkpoint_key) override {
    const std::string prefix = find_prefix();
    const int64_t order = zip_.find(prefix + "byteorder");
    if (order >= 0 && text(order) != "little") fail(where_, "is of a big-endian machine");
    const std::string bytes = text(zip_.find(prefix + "data.pkl"));
    const pickle::Pickle pickle(bytes, state_dict_globals(), where_);
    const auto find_storage = [&](const StorageId& id) {
      const int64_t storage = zip_.find(fmt::format("{}data/{}", prefix, id.key));
      if (storage < 0) fail(where_, fmt::format("has no storage '{}'", printable(id.key)));
      const int64_t size = zip_.entries()[static_cast<size_t>(storage)].size;
      if (size != id.bytes()) {
        fail(where_, fmt::format("storage '{}' has {} bytes instead of {}", printable(id.key), size, id.bytes()));
      }
      return storage;
    };
    return dnn::read_state_dict(pickle.root(), find_storage, where_, checkpoint_key);
  }

  int64_t deflated_bytes() const override { return zip_.deflated_bytes(); }

  void read(int64_t storage, int64_t offset, int64_t bytes, void* to) override {
    zip_.read(storage, offset, bytes, to);
  }

 private:
  std::string find_prefix() const {
    std::string prefix;
    for (const ZipReader::Entry& entry : zip_.entries()) {
      constexpr std::string_view kPickle = "/data.pkl";
      const size_t slash = entry.name.find('/');
      if (slash == std::string::npos || entry.name.substr(slash) != kPickle) continue;
      if (!prefix.empty()) fail(where_, "has more than one data.pkl");
      prefix = entry.name.substr(0, slash + 1);
    }
    if (prefix.empty()) fail(where_, "is a zip archive without data.pkl, so not PyTorch's");
    const auto is_code = [&](const ZipReader::Entry& entry) { return entry.name.starts_with(prefix + "code/"); };
    if (zip_.find(prefix + "constants.pkl") >= 0 &&
        std::any_of(zip_.entries().begin(), zip_.entries().end(), is_code)) {
      fail(where_,
           "is a TorchScript archive, a program with its weights; in Python, save the weights alone: "
           "torch.save(torch.jit.load(path).state_dict(), new_path)");
    }
    return prefix;
  }

  std::string text(int64_t entry) {
    const ZipReader::Entry& info = zip_.entries()[static_cast<size_t>(entry)];
    if (info.size > kMaxPickleBytes) {
      fail(where_, fmt::format("'{}' has {} bytes; read are {}", printable(info.name), info.size, kMaxPickleBytes));
    }
    std::string bytes(static_cast<size_t>(info.size), '\0');
    zip_.read(entry, 0, info.size, bytes.data());
    return bytes;
  }

  std::string where_;
  ZipReader zip_;
};

// Five pickles, of a magic number, the protocol, the machine, the object, and the keys of its storages; then, for each
// key, the number of elements in 8 bytes and the elements.
class LegacyStorages : public PthStorages {
 public:
  LegacyStorages(const std::string& path, const std::string& where, int64_t size)
      : where_(where), file_(path, std::ios::binary), size_(size) {}

  StateDict read_state_dict(const std::string& checkpoint_key) override {
    std::string bytes(static_cast<size_t>(std::min(size_, kMaxPickleBytes)), '\0');
    read_file(0, static_cast<int64_t>(bytes.size()), bytes.data());
    rest_ = bytes;

    constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
    const pickle::Pickle magic = next();
    const auto* number = magic.root().as<pickle::BigInteger>();
    if (!number || number->bytes != kMagic) fail(where_, "is a pickle, but not of PyTorch's torch.save");
    const pickle::Pickle protocol = next();
    const auto* version = protocol.root().as<int64_t>();
    if (!version || *version != 1001) fail(where_, "is of an unknown version of PyTorch's files");
    check_machine(next());
    const pickle::Pickle object = next(), keys = next();
    find_storages(object, keys);
    const auto find_storage = [&](const StorageId& id) {
      const auto found = numbers_.find(id.key);
      if (found == numbers_.end()) fail(where_, fmt::format("has no storage '{}'", printable(id.key)));
      return found->second;
    };
    StateDict result = dnn::read_state_dict(object.root(), find_storage, where_, checkpoint_key);
    rest_ = {};
    return result;
  }

  void read(int64_t storage, int64_t offset, int64_t bytes, void* to) override {
    read_file(begins_[static_cast<size_t>(storage)] + offset, bytes, to);
  }

 private:
  void read_file(int64_t offset, int64_t bytes, void* to) {
    file_.clear();
    file_.seekg(offset);
    if (!file_.read(static_cast<char*>(to), bytes)) fail(where_, "cannot be read to its end");
  }

  pickle::Pickle next() {
    pickle::Pickle pickle(rest_, state_dict_globals(), where_);
    rest_.remove_prefix(static_cast<size_t>(pickle.size()));
    at_ += pickle.size();
    return pickle;
  }

  void check_machine(const pickle::Pickle& info) const {
    const auto* dict = info.root().as<pickle::Dict>();
    if (!dict) fail(where_, "does not describe the machine that wrote it");
    for (size_t i = 0; i < dict->items->size(); i += 2) {
      const auto* key = (*dict->items)[i].as<pickle::Text>();
      const bool* value = (*dict->items)[i + 1].as<bool>();
      if (key && key->text == "little_endian" && value && !*value) fail(where_, "is of a big-endian machine");
    }
  }

  // The places of all storages that the object refers to, in the order of the keys.
  void find_storages(const pickle::Pickle& object, const pickle::Pickle& keys) {
    std::map<std::string_view, StorageId> ids;
    for (const pickle::Values& persistent : object.persistent_ids()) {
      if (!is_storage(persistent)) continue;
      const StorageId id = storage_id(persistent, where_);
      const StorageId& known = ids.emplace(id.key, id).first->second;
      if (known.type != id.type || known.numel != id.numel) {
        fail(where_, fmt::format("storage '{}' has two types or sizes", printable(id.key)));
      }
    }
    const auto* list = keys.root().as<pickle::List>();
    if (!list) fail(where_, "has no list of storages");
    for (const pickle::Value& value : *list->items) {
      const auto* key = value.as<pickle::Text>();
      const auto id = key ? ids.find(key->text) : ids.end();
      if (id == ids.end()) fail(where_, "has a storage that no tensor refers to");
      if (!numbers_.emplace(key->text, static_cast<int64_t>(begins_.size())).second) {
        fail(where_, fmt::format("has storage '{}' twice", printable(key->text)));
      }
      int64_t numel = 0;
      if (size_ - at_ < static_cast<int64_t>(sizeof numel)) fail(where_, "ends before its storages");
      read_file(at_, sizeof numel, &numel);
      at_ += static_cast<int64_t>(sizeof numel);
      const int64_t bytes = id->second.bytes();
      if (numel != id->second.numel) {
        fail(where_,
             fmt::format("storage '{}' has {} elements instead of {}", printable(key->text), numel, id->second.numel));
      }
      if (bytes > size_ - at_) {
        fail(where_, fmt::format("ends before storage '{}' of {} bytes", printable(key->text), bytes));
      }
      begins_.push_back(at_);
      at_ += bytes;
    }
  }

  std::string where_;
  std::ifstream file_;
  int64_t size_ = 0;
  std::string_view rest_;                                // of the first bytes of the file: what no pickle has taken yet
  int64_t at_ = 0;                                       // where that begins
  std::map<std::string, int64_t, std::less<>> numbers_;  // of storages, by key
  std::vector<int64_t> begins_;                          // of the elements, in the file
};

}  // namespace

PthFile::PthFile(const std::string& path, const std::string& checkpoint_key) : TensorFile(path, "read_pth") {
  const std::string begin = first_bytes(path, where());
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error) fail(error.message());

  if (begin.starts_with("PK\x03\x04")) {
    storages_ = std::make_unique<ZipStorages>(path, where());
  } else {
    storages_ = std::make_unique<LegacyStorages>(path, where(), size);
  }
  StateDict dict = storages_->read_state_dict(checkpoint_key);
  entered_ = std::move(dict.entered);
  entries_ = std::move(dict.entries);
  others_ = std::move(dict.others);

  int64_t bytes = 0;
  for (const Entry& entry : entries_) {
    if (std::count(entry.shape.begin(), entry.shape.end(), 0)) continue;
    bytes += std::accumulate(entry.shape.begin(), entry.shape.end(), int64_t{element_type(entry.type)->size},
                             std::multiplies<>());
    if (bytes > kMaxRatio * size + storages_->deflated_bytes())
      fail("has tensors of more bytes than a file of its size can give");
  }
}

PthFile::~PthFile() = default;

void PthFile::read_bytes(int64_t storage, int64_t offset, int64_t bytes, void* to) {
  storages_->read(storage, offset, bytes, to);
}

NamedTensors read_pth(const std::string& path) { return PthFile(path).read_all(); }

}  // namespace dnn
