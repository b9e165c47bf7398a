#pragma once
#include <libdnn/data/dataset.h>
#include <libdnn/data/preprocess.h>

namespace dnn {

// Pictures in memory, of three channels, preprocessed as they are asked for.
class ImageMemory : public Dataset {
 public:
  ImageMemory(ImageDataset pictures, const Preprocessing& preprocessing);

  int64_t size() const override { return pictures_.size(); }
  Batch load(const std::vector<int32_t>& samples, RandomState random, const Device& device) override;

 private:
  ImageDataset pictures_;
  Preprocessing preprocessing_;
};

}  // namespace dnn
