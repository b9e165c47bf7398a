#pragma once
#include <libdnn/data/dataset.h>

namespace dnn {

struct Batch {
  Tensor images;  // float32 (n, H, W, C), pixel / 255
  Tensor labels;  // int32 (n)
};

struct DataLoaderOptions {
  int batch_size = 64;
  bool shuffle = false;
  uint64_t seed = 0;       // of the order; each epoch has its own
  bool drop_last = false;  // leave out a last batch that is not full
};

// Hands out a data set in batches on a device. The pictures stay there as bytes; the last batch may be short and has
// its own size.
class DataLoader {
 public:
  DataLoader(const ImageDataset& dataset, const DataLoaderOptions& options, const Device& device = default_device());

  int64_t samples() const;  // in an epoch
  int64_t batches() const;

  void start_epoch(int64_t epoch);  // the order follows from (seed, epoch) alone
  bool next(Batch& batch);          // false at the end of the epoch

 private:
  ImageDataset dataset_;  // images on the device, labels in host memory
  DataLoaderOptions options_;
  Device device_;
  std::vector<int32_t> order_;
  int64_t position_ = 0;
};

}  // namespace dnn
