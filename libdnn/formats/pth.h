#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include <libdnn/formats/tensor_file.h>

namespace dnn {

class PthStorages;

// PyTorch's files of tensors, .pth or .pt, as torch.save writes a module's state_dict(): a zip archive with a pickle
// and the elements, and the form before PyTorch 1.6, a row of pickles and then the elements. Nothing in the file is run
// (formats/pickle.h); what is no tensor is passed over. A checkpoint is entered: a dict with such a state dict under
// state_dict, model_state_dict, model, net or params, or under `checkpoint_key`. Tensors may be views of a storage in
// any order, but not of more elements than it has.
class PthFile : public TensorFile {
 public:
  explicit PthFile(const std::string& path, const std::string& checkpoint_key = "");
  ~PthFile() override;

  const std::string& entered() const { return entered_; }  // the key of the state dict in a checkpoint; else empty

 private:
  void read_bytes(int64_t storage, int64_t offset, int64_t bytes, void* to) override;

  std::unique_ptr<PthStorages> storages_;
  std::string entered_;
};

NamedTensors read_pth(const std::string& path);  // all tensors, under the file's names

// A file that torch.load reads, with weights_only too: a dict of the tensors in a zip archive. int32 tensors whose
// names are in `as_int64` are written as 64-bit integers. The file appears whole or not at all; the same tensors give
// the same bytes.
void write_pth(const std::string& path, const NamedTensors& tensors, const std::set<std::string>& as_int64 = {});

}  // namespace dnn
