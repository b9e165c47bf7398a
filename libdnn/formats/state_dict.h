#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <libdnn/formats/pickle.h>
#include <libdnn/formats/tensor_file.h>

namespace dnn {

// What PyTorch's pickles of tensors say. `where` begins the messages of errors: "[read_pth] FILE".

// The names that such a pickle may use.
const std::vector<std::string_view>& state_dict_globals();

// The elements that tensors are views of, as a pickle's persistent id names them.
struct StorageId {
  std::string_view key;
  const ElementType* type;
  int64_t numel;

  int64_t bytes() const { return numel * type->size; }
};
StorageId storage_id(const pickle::Values& id, const std::string& where);
bool is_storage(const pickle::Values& id);  // not something else that a pickle has outside

struct StateDict {
  std::string entered;  // where the pickle is a checkpoint: the key of its state dict; else empty
  std::vector<TensorFile::Entry> entries;
  std::vector<TensorFile::Other> others;
};

// The dict of tensors that the pickle is, or has under one of PyTorch users' keys: state_dict, model_state_dict, model,
// net or params; under `checkpoint_key` where that is given. Every tensor is checked to lie in its storage.
// `find_storage` gives the number of a storage that it found to have the bytes that its id says, or throws.
StateDict read_state_dict(const pickle::Value& root, const std::function<int64_t(const StorageId&)>& find_storage,
                          const std::string& where, const std::string& checkpoint_key = "");

}  // namespace dnn
