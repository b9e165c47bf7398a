#include <libdnn/formats/state_dict.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include <libdnn/formats/printable.h>

namespace dnn {
namespace {

using pickle::Call;
using pickle::Dict;
using pickle::Global;
using pickle::Persistent;
using pickle::Text;
using pickle::Tuple;
using pickle::Value;
using pickle::Values;

constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor";  // before PyTorch 0.4
constexpr std::string_view kRebuildTensorV2 = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view kStateDictKeys[] = {"state_dict", "model_state_dict", "model"};

// The arguments of a call of one of the functions; null where the value is something else.
const Values* arguments_of(const Value& value, std::initializer_list<std::string_view> functions) {
  const Call* call = value.as<Call>();
  if (!call) return nullptr;
  const std::string_view name = (*call->parts)[0].as<Global>()->name;
  if (std::find(functions.begin(), functions.end(), name) == functions.end()) return nullptr;
  return (*call->parts)[1].as<Tuple>()->items;
}

// The arguments of _rebuild_tensor where the value is a tensor or a parameter.
const Values* tensor_arguments(const Value& value) {
  const Values* parameter = arguments_of(value, {kRebuildParameter});
  const Value& tensor = parameter && !parameter->empty() ? parameter->front() : value;
  return arguments_of(tensor, {kRebuildTensor, kRebuildTensorV2});
}

bool holds_tensors(const Dict& dict) {
  for (size_t i = 1; i < dict.items->size(); i += 2) {
    if (tensor_arguments((*dict.items)[i])) return true;
  }
  return false;
}

const Value* item(const Dict& dict, std::string_view key) {
  for (size_t i = 0; i < dict.items->size(); i += 2) {
    const Text* text = (*dict.items)[i].as<Text>();
    if (text && text->text == key) return &(*dict.items)[i + 1];
  }
  return nullptr;
}

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(fmt::format("{}: {}", where, what));
}

// Checks what a pickle says of one tensor.
struct TensorReader {
  const std::string& where;
  std::string_view name;

  [[noreturn]] void wrong(const std::string& what) const {
    fail(where, fmt::format("tensor '{}' {}", printable(name), what));
  }

  int64_t number(const Value& value) const {
    const int64_t* number = value.as<int64_t>();
    if (!number || *number < 0) wrong("has a size, a stride or an offset that is none");
    return *number;
  }

  std::vector<int64_t> numbers(const Value& value) const {
    const Tuple* tuple = value.as<Tuple>();
    if (!tuple) wrong("has sizes or strides that are no tuple");
    std::vector<int64_t> list;
    for (const Value& v : *tuple->items) list.push_back(number(v));
    return list;
  }

  int64_t count(const std::vector<int64_t>& shape) const {
    int64_t numel = 1;
    for (const int64_t size : shape) {
      if (__builtin_mul_overflow(numel, size, &numel)) wrong("has more elements than can be counted");
    }
    return numel;
  }

  // The last element that is reached from `offset`.
  int64_t last(const TensorFile::Entry& entry, int64_t offset) const {
    int64_t at = offset;
    for (size_t dim = 0; dim < entry.shape.size(); ++dim) {
      int64_t way = 0;
      if (__builtin_mul_overflow(entry.shape[dim] - 1, entry.strides[dim], &way) ||
          __builtin_add_overflow(at, way, &at)) {
        wrong("has strides that cannot be counted");
      }
    }
    return at;
  }

  static bool row_major(const TensorFile::Entry& entry) {
    int64_t stride = 1;
    for (size_t dim = entry.shape.size(); dim-- > 0;) {
      if (entry.shape[dim] != 1 && entry.strides[dim] != stride) return false;
      stride *= entry.shape[dim];
    }
    return true;
  }

  TensorFile::Entry read(const Values& arguments, const StorageId& id) const {
    TensorFile::Entry entry;
    entry.name = name;
    entry.type = id.type->name;
    const int64_t offset = number(arguments[1]);
    entry.shape = numbers(arguments[2]);
    entry.strides = numbers(arguments[3]);
    if (entry.strides.size() != entry.shape.size()) {
      wrong(fmt::format("has {} sizes and {} strides", entry.shape.size(), entry.strides.size()));
    }
    const int64_t numel = count(entry.shape);
    if (numel == 0) {
      entry.strides.clear();
      return entry;
    }
    const int64_t end = last(entry, offset);
    if (end >= id.numel) {
      wrong(fmt::format("reaches beyond its storage: element {} of {}", end, id.numel));
    }
    if (numel > id.numel) wrong(fmt::format("repeats elements: it has {}, its storage {}", numel, id.numel));
    if (row_major(entry)) entry.strides.clear();
    entry.offset = offset * id.type->size;
    return entry;
  }
};

// The dict that holds the tensors: the pickle's own, or the state dict in a checkpoint, which may have tensors beside it.
const Dict& find_dict(const Value& root, const std::string& where, std::string& entered) {
  const Dict* dict = root.as<Dict>();
  if (!dict) fail(where, "holds no dict of tensors; save a module's state_dict()");
  for (const std::string_view key : kStateDictKeys) {
    const Value* value = item(*dict, key);
    const Dict* inner = value ? value->as<Dict>() : nullptr;
    if (!inner || !holds_tensors(*inner)) continue;
    entered = key;
    return *inner;
  }
  if (dict->items->empty() || holds_tensors(*dict)) return *dict;
  std::string keys;
  for (size_t i = 0; i < std::min<size_t>(dict->items->size(), 20); i += 2) {
    const Text* key = (*dict->items)[i].as<Text>();
    if (key) keys += (keys.empty() ? "" : ", ") + printable(key->text);
  }
  fail(where, fmt::format("holds no tensors in its dict, nor under state_dict, model_state_dict or model; it has {}",
                          keys.empty() ? "no names" : keys));
}

}  // namespace

const std::vector<std::string_view>& state_dict_globals() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list{"collections.OrderedDict", "torch.Size", kRebuildTensor, kRebuildTensorV2,
                                       kRebuildParameter};
    for (const std::string_view storage : storage_names()) list.push_back(storage);
    return list;
  }();
  return names;
}

StorageId storage_id(const Values& id, const std::string& where) {
  const Tuple* tuple = id[0].as<Tuple>();
  const Values none;
  const Values& parts = tuple ? *tuple->items : none;
  const Text* kind = parts.size() >= 5 ? parts[0].as<Text>() : nullptr;
  if (!kind || kind->text != "storage") fail(where, "refers to what is no storage");
  const Global* type = parts[1].as<Global>();
  const Text* key = parts[2].as<Text>();
  const int64_t* numel = parts[4].as<int64_t>();
  StorageId storage{key ? key->text : "", type ? element_type_of_storage(type->name) : nullptr, numel ? *numel : -1};
  if (!key || !storage.type || storage.numel < 0) fail(where, "has a storage without a key, type or size");
  if (storage.numel > std::numeric_limits<int64_t>::max() / storage.type->size) {
    fail(where, fmt::format("storage '{}' cannot have {} elements", printable(storage.key), storage.numel));
  }
  // Files of PyTorch before 0.4 may name a part of a storage here.
  if (parts.size() > 5 && !parts[5].as<pickle::None>()) {
    fail(where, fmt::format("storage '{}' is a part of another, which is not read", printable(storage.key)));
  }
  return storage;
}

StateDict read_state_dict(const Value& root, const std::function<int64_t(const StorageId&)>& find_storage,
                          const std::string& where) {
  StateDict result;
  const Dict& dict = find_dict(root, where, result.entered);
  std::set<std::string_view> names;
  for (size_t i = 0; i < dict.items->size(); i += 2) {
    const Text* name = (*dict.items)[i].as<Text>();
    if (!name) fail(where, "has a tensor whose name is no text");
    if (!names.insert(name->text).second) fail(where, fmt::format("has '{}' twice", printable(name->text)));
    const Values* arguments = tensor_arguments((*dict.items)[i + 1]);
    if (!arguments) {
      result.others.emplace_back(name->text);
      continue;
    }
    const Persistent* storage = arguments->size() >= 4 ? (*arguments)[0].as<Persistent>() : nullptr;
    const TensorReader reader{where, name->text};
    if (!storage) reader.wrong("has no storage");
    const StorageId id = storage_id(*storage->id, where);
    result.entries.push_back(reader.read(*arguments, id));
    result.entries.back().storage = find_storage(id);
  }
  return result;
}

}  // namespace dnn
