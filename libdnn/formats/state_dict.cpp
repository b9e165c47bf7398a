#include <libdnn/formats/state_dict.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include <libdnn/formats/name_list.h>
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
constexpr std::string_view kRebuildParameterWithState = "torch._utils._rebuild_parameter_with_state";
// A tensor with attributes, or of a derived class.
constexpr std::string_view kRebuildFromType[] = {"torch._tensor._rebuild_from_type_v2",
                                                 "torch._tensor._rebuild_from_type", "torch.tensor._rebuild_from_type"};
constexpr std::string_view kStateDictKeys[] = {"state_dict", "model_state_dict", "model", "net", "params"};

using Functions = std::span<const std::string_view>;
constexpr std::string_view kTensorFunctions[] = {kRebuildTensor, kRebuildTensorV2};
constexpr std::string_view kParameterFunctions[] = {kRebuildParameter, kRebuildParameterWithState};

bool is_one_of(const Value& function, Functions functions) {
  const Global* global = function.as<Global>();
  return global && std::find(functions.begin(), functions.end(), global->name) != functions.end();
}

// The arguments of a call of one of the functions; null where the value is something else.
const Values* arguments_of(const Value& value, Functions functions) {
  const Call* call = value.as<Call>();
  return call && is_one_of((*call->parts)[0], functions) ? (*call->parts)[1].as<Tuple>()->items : nullptr;
}

// The arguments of _rebuild_tensor where the value is a tensor or a parameter.
const Values* tensor_arguments(const Value& value) {
  const Values* parameter = arguments_of(value, kParameterFunctions);
  const Value& tensor = parameter && !parameter->empty() ? parameter->front() : value;
  // function, class, its arguments, attributes
  const Values* typed = arguments_of(tensor, kRebuildFromType);
  if (!typed) return arguments_of(tensor, kTensorFunctions);
  const Tuple* arguments =
      typed->size() > 2 && is_one_of(typed->front(), kTensorFunctions) ? (*typed)[2].as<Tuple>() : nullptr;
  return arguments ? arguments->items : nullptr;
}

std::string name_of(const pickle::Opaque& opaque) {
  return opaque.of ? fmt::format("{}.{}", printable(opaque.of->module), printable(opaque.of->name)) : "an object";
}

// What a value is, for a message.
std::string describe(const Value& value) {
  if (const auto* opaque = value.as<pickle::Opaque>()) return name_of(*opaque);
  if (const auto* global = value.as<Global>()) return std::string(global->name);
  if (const auto* call = value.as<Call>()) return std::string((*call->parts)[0].as<Global>()->name);
  if (value.as<Persistent>()) return "a storage";
  if (value.as<pickle::None>()) return "None";
  if (value.as<Dict>()) return "a dict";
  if (value.as<Tuple>() || value.as<pickle::List>()) return "a list";
  if (value.as<Text>()) return "a text";
  return value.as<pickle::Bytes>() ? "bytes" : "a number";
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

  // Whether the elements are the negatives of those in the storage: an entry of the last argument, which PyTorch writes
  // for tensors that have such a property.
  bool negated(const Values& arguments) const {
    constexpr size_t kMetadata = 6;
    if (arguments.size() <= kMetadata || arguments[kMetadata].as<pickle::None>()) return false;
    const Dict* metadata = arguments[kMetadata].as<Dict>();
    if (!metadata || arguments.size() > kMetadata + 1) wrong("has arguments that are unknown");
    bool result = false;
    for (size_t i = 0; i < metadata->items->size(); i += 2) {
      const Text* key = (*metadata->items)[i].as<Text>();
      const bool* set = (*metadata->items)[i + 1].as<bool>();
      if (!key) wrong("has a property whose name is no text");
      if (set && !*set) continue;
      if (key->text != "neg" || !set)
        wrong(fmt::format("has the property '{}', which is not read", printable(key->text)));
      result = true;
    }
    return result;
  }

  TensorFile::Entry read(const Values& arguments, const StorageId& id) const {
    TensorFile::Entry entry;
    entry.name = name;
    entry.type = id.type->name;
    entry.negated = negated(arguments);
    if (entry.negated && entry.type == "BOOL") wrong("is negated, which truth values cannot be");
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

std::string keys_of(const Dict& dict) {
  constexpr size_t kMost = 20;
  std::vector<std::string> keys;
  for (size_t i = 0; i < dict.items->size(); i += 2) {
    const Text* key = (*dict.items)[i].as<Text>();
    if (key) keys.emplace_back(key->text);
  }
  return keys.empty() ? "no names" : first_names(keys, kMost);
}

// The dict of tensors under a key that the user names.
const Dict& find_named_dict(const Dict& checkpoint, const std::string& where, const std::string& key) {
  const Value* value = item(checkpoint, key);
  if (!value) fail(where, fmt::format("has no key '{}'; it has {}", printable(key), keys_of(checkpoint)));
  const Dict* dict = value->as<Dict>();
  if (!dict) fail(where, fmt::format("has {} under '{}', not a dict of tensors", describe(*value), printable(key)));
  if (!holds_tensors(*dict)) {
    fail(where, fmt::format("has a dict without tensors under '{}'; in that are {}", printable(key), keys_of(*dict)));
  }
  return *dict;
}

// The dict that holds the tensors: the pickle's own, or the state dict in a checkpoint, which may have tensors beside
// it.
const Dict& find_dict(const Value& root, const std::string& where, std::string& entered) {
  const Dict* dict = root.as<Dict>();
  if (!dict) {
    fail(where, fmt::format("holds {}, not a dict of tensors; save a module's weights by "
                            "torch.save(module.state_dict(), path)",
                            describe(root)));
  }
  if (!entered.empty()) return find_named_dict(*dict, where, entered);
  const Dict* found = nullptr;
  for (const std::string_view key : kStateDictKeys) {
    const Value* value = item(*dict, key);
    const Dict* inner = value ? value->as<Dict>() : nullptr;
    if (!inner || !holds_tensors(*inner)) continue;
    if (found && found->items != inner->items) {
      fail(where, fmt::format("has tensors under '{}' and '{}'; say which by the checkpoint key", entered, key));
    }
    if (!found) entered = key;
    found = inner;
  }
  if (found) return *found;
  if (dict->items->empty() || holds_tensors(*dict)) return *dict;
  fail(where,
       fmt::format("holds no tensors in its dict, nor in one under {}; it has {}. Another key of a checkpoint is "
                   "to be named",
                   fmt::join(kStateDictKeys, ", "), keys_of(*dict)));
}

}  // namespace

const std::vector<std::string_view>& state_dict_globals() {
  // Never destroyed: the destructors of static variables may read files.
  static const std::vector<std::string_view>& names = *new std::vector<std::string_view>([] {
    std::vector<std::string_view> list{"collections.OrderedDict", "torch.Size"};
    for (const Functions names :
         {Functions(kTensorFunctions), Functions(kParameterFunctions), Functions(kRebuildFromType)}) {
      list.insert(list.end(), names.begin(), names.end());
    }
    for (const std::string_view storage : storage_names()) list.push_back(storage);
    return list;
  }());
  return names;
}

bool is_storage(const Values& id) {
  const Tuple* tuple = id[0].as<Tuple>();
  const Text* kind = tuple && tuple->items->size() >= 5 ? tuple->items->front().as<Text>() : nullptr;
  return kind && kind->text == "storage";
}

StorageId storage_id(const Values& id, const std::string& where) {
  if (!is_storage(id)) fail(where, "refers to what is no storage");
  const Values& parts = *id[0].as<Tuple>()->items;
  const Global* type = parts[1].as<Global>();
  const Text* key = parts[2].as<Text>();
  const int64_t* numel = parts[4].as<int64_t>();
  StorageId storage{key ? key->text : "", type ? element_type_of_storage(type->name) : nullptr, numel ? *numel : -1};
  if (const auto* unknown = parts[1].as<pickle::Opaque>(); unknown && key) {
    fail(where,
         fmt::format("storage '{}' is of the type {}, which is not read", printable(key->text), name_of(*unknown)));
  }
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
                          const std::string& where, const std::string& checkpoint_key) {
  StateDict result;
  result.entered = checkpoint_key;
  const Dict& dict = find_dict(root, where, result.entered);
  std::set<std::string_view> names;
  for (size_t i = 0; i < dict.items->size(); i += 2) {
    const Value& value = (*dict.items)[i + 1];
    const Text* name = (*dict.items)[i].as<Text>();
    const Values* arguments = tensor_arguments(value);
    if (!name && !arguments) continue;
    if (!name) fail(where, "has a tensor whose name is no text");
    if (!names.insert(name->text).second) fail(where, fmt::format("has '{}' twice", printable(name->text)));
    if (!arguments) {
      result.others.push_back({std::string(name->text), describe(value)});
      continue;
    }
    const Persistent* storage = arguments->size() >= 4 ? (*arguments)[0].as<Persistent>() : nullptr;
    const TensorReader reader{where, name->text};
    if (!storage) reader.wrong("has no storage");
    const StorageId id = storage_id(*storage->id, fmt::format("{}: tensor '{}'", where, printable(name->text)));
    result.entries.push_back(reader.read(*arguments, id));
    result.entries.back().storage = find_storage(id);
  }
  return result;
}

}  // namespace dnn
