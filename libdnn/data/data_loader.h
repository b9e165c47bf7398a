#pragma once
#include <memory>

#include <libdnn/data/dataset.h>

namespace dnn {

struct DataLoaderOptions {
  int batch_size = 64;
  bool shuffle = false;
  uint64_t seed = 0;       // of the order and of what the data set draws; each epoch has its own
  bool drop_last = false;  // leave out a last batch that is not full
};

// Hands out a data set in batches on a device. The last batch may be short and has its own size, as have those of a
// data set that leaves samples out; no batch is empty. Error for a batch whose images and labels don't fit each other
// or what was asked for; the pictures of another batch may have another size.
class DataLoader {
 public:
  DataLoader(std::shared_ptr<Dataset> dataset, const DataLoaderOptions& options,
             const Device& device = default_device());
  // Of pictures in memory, which stay on the device as bytes; a batch has pixel / 255.
  DataLoader(const ImageDataset& dataset, const DataLoaderOptions& options, const Device& device = default_device());

  int64_t samples() const;  // in an epoch
  int64_t batches() const;

  void start_epoch(int64_t epoch);  // from its first batch on; the order follows from (seed, epoch) alone
  // The next batch of the epoch, of epoch 0 at first; false, once, at its end: the call after that starts the epoch
  // that follows. So `while (loader.next(batch))` is an epoch, and again the next one.
  bool next(Batch& batch);

 private:
  std::shared_ptr<Dataset> dataset_;
  DataLoaderOptions options_;
  Device device_;
  std::vector<int32_t> order_;
  int64_t epoch_ = 0, position_ = 0;
  bool ended_ = false;  // and that was told
};

}  // namespace dnn
