#pragma once
#include <string>

#include <libdnn/core/tensor.h>

namespace dnn {

// Pictures of one size with a label each, kept as bytes: images uint8 (N, H, W, C), labels int32 (N) in host memory.
struct ImageDataset {
  Tensor images;
  Tensor labels;
  int classes = 0;

  int64_t size() const { return images.defined() ? images.size(0) : 0; }
  ImageDataset first(int64_t count) const;  // the first `count` samples, or all where there are fewer
};

enum class MnistPart { train, test };

// MNIST's training (60,000) or test (10,000) pictures from the four files of its distribution, gzipped or not, in
// `folder`. Error with the file's name where one is missing, damaged, or does not fit its partner.
ImageDataset load_mnist(const std::string& folder, MnistPart part);

}  // namespace dnn
